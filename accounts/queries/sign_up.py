"""Reads what stands in the way of a new account, and what opens it: names, addresses, blocks, invitations."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F, Q, QuerySet, Value

from accounts.models import (
    Account,
    CanonicalEmailBlock,
    EmailDomainBlock,
    Invite,
    IpBlock,
    RetiredUsername,
    Severity,
    User,
    UsernameBlock,
)
from accounts.policies.sign_up_gates import Findings, Gate, domain_and_parents, email_digest, normalised_username
from social.kernel import clock
from social.kernel.text.names import normalise_domain


def load_findings(*, username: str, email: str, address: str | None) -> Findings:
    """What the tables say about a new account; seven small statements, none of which depends on how many blocks exist."""
    by_email = load_email_findings(email)
    return Findings(
        username_in_use=_username_in_use(username),
        email_in_use=by_email.email_in_use,
        canonical_email=by_email.canonical_email,
        network=_network(address),
        email_domain=by_email.email_domain,
        username=_username(username),
    )


def load_email_findings(email: str) -> Findings:
    """As `load_findings`, of an e-mail address alone."""
    return Findings(
        email_in_use=User.objects.filter(email__iexact=email).exists(),
        canonical_email=CanonicalEmailBlock.objects.filter(digest=email_digest(email)).exists(),
        email_domain=_email_domain(email),
    )


def _username_in_use(username: str) -> bool:
    # In this order: an account that is deleted between the two statements is found by the first or by the second.
    return (
        Account.objects.filter(username__iexact=username, domain=None).exists()
        or RetiredUsername.objects.filter(username=username.lower()).exists()
    )


def _email_domain(email: str) -> Gate:
    domain = normalise_domain(email.rpartition("@")[2])
    if domain is None:
        return Gate.OPEN
    blocks = EmailDomainBlock.objects.filter(domain__one_of=domain_and_parents(domain))
    return _strictest(blocks.values_list("allow_with_approval", flat=True))


def _username(username: str) -> Gate:
    name = normalised_username(username)
    blocks = UsernameBlock.objects.alias(name=Value(name)).filter(
        Q(exact=True, normalised=name) | Q(exact=False, name__contains=F("normalised"))
    )
    return _strictest(blocks.values_list("allow_with_approval", flat=True))


def _network(address: str | None) -> Gate:
    if address is None:
        return Gate.OPEN
    found = list_ip_blocks().filter(first__lte=address, last__gte=address).values_list("severity", flat=True)
    return _strictest(severity == Severity.SIGN_UP_REQUIRES_APPROVAL for severity in found)


def _strictest(allowed_with_approval: Iterable[bool]) -> Gate:
    return max((Gate.APPROVAL if allowed else Gate.CLOSED for allowed in allowed_with_approval), default=Gate.OPEN)


def list_ip_blocks() -> QuerySet[IpBlock]:
    """The blocks of networks that count now."""
    return IpBlock.objects.filter(Q(expires_at=None) | Q(expires_at__gt=clock.now()))


def load_refused_networks() -> list[str]:
    """The networks whose people may ask nothing at all."""
    return list(list_ip_blocks().filter(severity=Severity.NO_ACCESS).values_list("network", flat=True))


def find_invite(code: str) -> Invite | None:
    """The invitation with this code, usable or not, with its inviter."""
    if not code or "\0" in code:
        return None
    return Invite.objects.select_related("inviter__account", "inviter__role").filter(code=code).first()


def find_usable_invite(code: str) -> Invite | None:
    """The invitation with this code, if people may sign up with it now."""
    invite = find_invite(code)
    return invite if invite is not None and is_usable(invite) else None


def usable_invites() -> QuerySet[Invite]:
    """The invitations that have neither expired nor been used up, of people who may use their account."""
    return Invite.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=clock.now()),
        Q(max_uses=None) | Q(uses__lt=F("max_uses")),
        Q(inviter=None) | Q(inviter__disabled_at=None, inviter__account__suspended_at=None),
    )


def is_usable(invite: Invite) -> bool:
    """Whether people may sign up with it now."""
    return usable_invites().filter(pk=invite.pk).exists()
