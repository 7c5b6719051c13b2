"""Reads facts that decide whether an account can be created: usernames, e-mail addresses, blocks, invitations."""

from collections.abc import Collection, Iterable
from datetime import UTC, timedelta
from typing import Final

from allauth.account.models import EmailAddress
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery, Sum, Value

from accounts.identity.policies.sign_up import Decision, Findings, email_digest, normalised_username
from accounts.models import (
    Account,
    CanonicalEmailBlock,
    EmailDomainBlock,
    EmailDomainRefusal,
    Invite,
    IpBlock,
    RetiredUsername,
    Severity,
    User,
    UsernameBlock,
)
from accounts.policies.audience import is_present
from accounts.policies.domains import domain_and_parents
from accounts.queries.accounts import has_address
from accounts.queries.tags import HISTORY_DAYS, DayOfUse
from social.kernel import clock
from social.kernel.text.names import normalise_domain

UNCONFIRMED: Final = ~Exists(EmailAddress.objects.filter(user=OuterRef("pk"), primary=True, verified=True))
"""Condition for users who have not confirmed their e-mail address."""


def list_unapproved() -> QuerySet[User]:
    """List users who have confirmed their e-mail address and are waiting for approval, unordered."""
    return User.objects.filter(approved=False, account__deleted_at=None).exclude(UNCONFIRMED)


def load_findings(
    *, username: str, email: str, address: str | None, mail_hosts: Collection[str] | None = None
) -> Findings:
    """Look up the data of a sign-up, in seven small statements, whose cost does not depend on the number of blocks.

    `mail_hosts` are the hosts that accept mail for the address (empty if no host does), or None if the DNS was not queried.
    """
    by_email = load_email_findings(email, mail_hosts)
    return Findings(
        username_in_use=_username_in_use(username),
        email_in_use=by_email.email_in_use,
        canonical_email=by_email.canonical_email,
        network=_decide_network(address),
        email_domain=by_email.email_domain,
        email_unreachable=by_email.email_unreachable,
        username=_decide_username(username),
    )


def load_email_findings(email: str, mail_hosts: Collection[str] | None = None) -> Findings:
    """Look up only the part of `load_findings` that concerns the e-mail address."""
    return Findings(
        email_in_use=User.objects.filter(email__lower=email.lower()).exists(),
        canonical_email=CanonicalEmailBlock.objects.filter(digest=email_digest(email)).exists(),
        email_domain=_decide_email_domain(email, mail_hosts or ()),
        email_unreachable=mail_hosts is not None and not mail_hosts,
    )


def _username_in_use(username: str) -> bool:
    # In this order, at least one of the two statements finds an account that is deleted between the two.
    return Account.objects.filter(has_address(username, None)).exists() or is_retired(username)


def is_retired(username: str) -> bool:
    """Tell whether this was the username of a local account that was deleted."""
    return RetiredUsername.objects.filter(username=username.lower()).exists()


def find_email_domain_blocks(email: str, mail_hosts: Iterable[str]) -> QuerySet[EmailDomainBlock]:
    """List the blocks of an address's domain and mail hosts, and of their parent domains."""
    domain = normalise_domain(email.rpartition("@")[2])
    if domain is None:
        return EmailDomainBlock.objects.none()
    # Because `mail_hosts` are checked as well, a block of a mail provider covers all domains that it serves.
    domains = {name for host in (domain, *mail_hosts) for name in domain_and_parents(host)}
    return EmailDomainBlock.objects.filter(domain__one_of=domains)


def _decide_email_domain(email: str, mail_hosts: Iterable[str]) -> Decision:
    return _strictest(find_email_domain_blocks(email, mail_hosts).values_list("allow_with_approval", flat=True))


def load_refusals(block_ids: Collection[int]) -> dict[int, list[DayOfUse]]:
    """Return, for each e-mail domain block, its refusals on each of the last HISTORY_DAYS days, today first; one query."""
    ids = list(block_ids)
    today = clock.now().astimezone(UTC).date()
    days = [today - timedelta(days=number) for number in range(HISTORY_DAYS)]
    refusals = EmailDomainRefusal.objects.filter(block_id__one_of=ids, day__gte=days[-1])
    rows = refusals.values("block_id", "day").annotate(accounts=Count("id"), total=Sum("uses")) if ids else ()
    known = {(row["block_id"], row["day"]): DayOfUse(row["day"], row["accounts"], row["total"]) for row in rows}
    return {number: [known.get((number, day), DayOfUse(day)) for day in days] for number in ids}


def with_refusals(blocks: QuerySet[EmailDomainBlock]) -> QuerySet[EmailDomainBlock]:
    """Annotate the blocks with `refused`: how many sign-ups were refused in the last HISTORY_DAYS days (None instead of 0)."""
    oldest = clock.now().astimezone(UTC).date() - timedelta(days=HISTORY_DAYS - 1)
    refusals = EmailDomainRefusal.objects.filter(block_id=OuterRef("pk"), day__gte=oldest).order_by().values("block_id")
    return blocks.annotate(refused=Subquery(refusals.annotate(total=Sum("uses")).values("total")))


def _decide_username(username: str) -> Decision:
    name = normalised_username(username)
    blocks = UsernameBlock.objects.alias(name=Value(name)).filter(
        Q(exact=True, normalised=name) | Q(exact=False, name__contains=F("normalised"))
    )
    return _strictest(blocks.values_list("allow_with_approval", flat=True))


def _decide_network(address: str | None) -> Decision:
    if address is None:
        return Decision.ALLOWED
    severities = list_ip_blocks().filter(first__lte=address, last__gte=address).values_list("severity", flat=True)
    return _strictest(severity == Severity.SIGN_UP_REQUIRES_APPROVAL for severity in severities)


def _strictest(allowed_with_approval: Iterable[bool]) -> Decision:
    return max(
        (Decision.NEEDS_APPROVAL if allowed else Decision.REFUSED for allowed in allowed_with_approval),
        default=Decision.ALLOWED,
    )


def list_ip_blocks() -> QuerySet[IpBlock]:
    """List the network blocks that have not expired."""
    return IpBlock.objects.filter(Q(expires_at=None) | Q(expires_at__gt=clock.now()))


def load_refused_networks() -> list[str]:
    """Load the networks from which every request is refused."""
    return list(list_ip_blocks().filter(severity=Severity.NO_ACCESS).values_list("network", flat=True))


def find_invite(code: str) -> Invite | None:
    """Return the invitation with this code, usable or not, with its inviter."""
    if not code or "\0" in code:
        return None
    return Invite.objects.select_related("inviter__account", "inviter__role").filter(code=code).first()


def find_usable_invite(code: str) -> Invite | None:
    """Return the invitation with this code, if people may sign up with it now."""
    invite = find_invite(code)
    return invite if invite is not None and is_usable(invite) else None


def usable_invites() -> QuerySet[Invite]:
    """List the invitations that have neither expired nor been used up, and whose inviter may use their account."""
    return Invite.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()),
        Q(max_uses=None) | Q(uses__lt=F("max_uses")),
        Q(inviter=None) | (Q(inviter__disabled_at=None) & is_present("inviter__account")),
    )


def list_invites(inviter: User) -> QuerySet[Invite]:
    """List an inviter's invitations, the newest first; `usable` says whether people may sign up with an invitation now."""
    usable = usable_invites().filter(pk=OuterRef("pk"))
    return Invite.objects.filter(inviter=inviter).annotate(usable=Exists(usable)).order_by("-id")


def is_usable(invite: Invite) -> bool:
    return usable_invites().filter(pk=invite.pk).exists()


def find_unconfirmed(user_id: int | None) -> EmailAddress | None:
    """Return the address that a user has not confirmed yet, with the user; None if there is none."""
    if user_id is None:
        return None
    return EmailAddress.objects.select_related("user").filter(user_id=user_id, primary=True, verified=False).first()
