"""Confirms e-mail addresses of new users, and changes users' addresses (behaviours sections 4, 5; security rows 24, 29)."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from allauth.account.models import EmailAddress, EmailConfirmationHMAC
from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.events import ConfirmationRequested, EmailChanged, EmailChangeRequested
from accounts.identity.policies.sign_up import email_errors
from accounts.identity.queries.sign_up import load_email_findings
from accounts.identity.services.mails import EMAIL_CHANGE_REQUESTED, Letter, report_security_change, send_all
from accounts.identity.services.sessions import end_sessions, sign_out_everywhere
from accounts.identity.services.signing_up import look_up_mail_hosts
from accounts.models import Account, RetiredUsername, User
from accounts.models.user import EVERYONE_ROLE_ID
from social.api import admission
from social.api.addresses import rate_key
from social.api.limits import limited, refuse_exceeded
from social.kernel import clock, links
from social.kernel.errors import FieldError, Forbidden, Invalid, NotFound, require_valid
from social.kernel.events import publish
from social.kernel.references import erase_some

RETURN_TO_LIMIT: Final = 1500


def request_confirmation(*, user: User, address: str, return_to: str = "") -> None:
    """Request the confirmation mail (again). Publishes ConfirmationRequested.

    `address` is the rate limit key of the client; the link in the mail redirects to `return_to`. Raises RateLimited
    beyond 25 requests in 5 minutes per address or 5 in 30 minutes per user.
    """
    _count_request(user, address)
    with transaction.atomic():
        publish(ConfirmationRequested(user_id=user.pk, return_to=bounded(return_to)))


def _count_request(user: User, address: str) -> None:
    by_address, by_user = limited("confirmations")
    refuse_exceeded([admission.count(by_address, address=address), admission.count(by_user, subject=str(user.pk))])


def bounded(path: str) -> str:
    """Return the path, or an empty text if it is longer than RETURN_TO_LIMIT, because mail programs break longer links."""
    return path if len(path) <= RETURN_TO_LIMIT else ""


def resend_confirmation(*, user: User | None, application_id: int | None, email: str | None = None) -> None:
    """Request the confirmation mail again, to another address if `email` is given. Publishes ConfirmationRequested.

    `user` is None for an application's own token. Raises Forbidden for an application that the user did not sign up
    with, for disabled and for confirmed users; Invalid for an address that is malformed or in use (contract, parameters
    section 2). The caller checks the rate limit.
    """
    if user is None or application_id is None or user.created_by_application_id != application_id:
        raise Forbidden(_("This method is only available to the application the user originally signed-up with"))
    _send_again(user, email)


def correct_email(*, user: User, email: str, address: str) -> None:
    """Replace an address that has not been confirmed yet, and send the confirmation mail to the new address.

    `address` is the rate limit key of the client. Publishes and raises the same as `request_confirmation` and
    `resend_confirmation`.
    """
    _count_request(user, address)
    _send_again(user, email)


def _send_again(user: User, email: str | None) -> None:
    if not user.is_active:
        raise Forbidden(_("Your login is currently disabled"))
    mail_hosts = look_up_mail_hosts(email) if email is not None and not email_errors(email.strip()) else None
    try:
        with transaction.atomic():
            # The row is locked, so that a simultaneous confirmation is either seen here, or fails because its address is
            # replaced.
            address = EmailAddress.objects.select_for_update(of=("self",)).filter(user=user, primary=True).first()
            if address is None or address.verified:
                raise Forbidden(_("This method is only available while the e-mail is awaiting confirmation"))
            if email is not None:
                _replace(address, email.strip().lower(), mail_hosts)
            publish(ConfirmationRequested(user_id=user.pk))
    except IntegrityError:
        raise Invalid.of([FieldError.taken("email")]) from None


def _replace(address: EmailAddress, email: str, mail_hosts: Collection[str] | None) -> None:
    if email == address.email:
        return
    require_valid(email_errors(email) or load_email_findings(email, mail_hosts).errors())
    user = address.user
    # A new row is created, because confirmation links contain the row's id, and the links that the old address got must not
    # work.
    address.delete()
    User.objects.filter(pk=user.pk).update(email=email)
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=False)


def confirmation_url(address: EmailAddress, return_to: str = "") -> str:
    """Return the signed link that confirms an address within three days, in any browser, and then redirects to `return_to`."""
    url = links.web_url(reverse("account_confirm_email", args=[EmailConfirmationHMAC(address).key]))
    return f"{url}?{urlencode({'next': return_to})}" if return_to else url


def send_confirmation_mails(events: Sequence[ConfirmationRequested]) -> None:
    """Handle ConfirmationRequested: send a mail to users who have not confirmed yet. Raises Unavailable."""
    return_to = {event.user_id: event.return_to for event in events if event.return_to}
    waiting = EmailAddress.objects.select_related("user__account").filter(
        user_id__one_of={event.user_id for event in events}, primary=True, verified=False
    )
    send_all(
        Letter(
            address.user,
            address.email,
            "confirmation",
            {"link": confirmation_url(address, return_to.get(address.user_id, ""))},
        )
        for address in waiting.order_by("pk")
    )


#: Time within which an address must be confirmed.
UNCONFIRMED_RETENTION: Final = timedelta(days=7)

#: Maximum number of users that one transaction removes.
BATCH_SIZE: Final = 100


def list_unconfirmed(*, before: datetime) -> QuerySet[EmailAddress]:
    """List the addresses of users who signed up before a given time and never confirmed the address, the oldest first.

    Users who have ever been active, or to whom staff have given a role, are left out.
    """
    waiting: QuerySet[EmailAddress] = EmailAddress.objects.filter(primary=True, verified=False)
    waiting = waiting.filter(user__activated_at=None, user__role_id=EVERYONE_ROLE_ID, user__created_at__lt=before)
    return waiting.select_related("user__account").order_by("user__created_at", "user_id")


def remove_unconfirmed(*, kept: timedelta = UNCONFIRMED_RETENTION) -> int:
    """Remove users who signed up longer than `kept` ago and never confirmed, with all their data; return how many.

    Nobody has ever seen these users, so their names become free again. Works in transactions of at most BATCH_SIZE users; a
    user who confirms at the same moment stays. Run by the scheduler.
    """
    before = clock.now() - kept
    removed = 0
    while count := _remove_some(before):
        removed += count
    return removed


def _remove_some(before: datetime) -> int:
    with transaction.atomic():
        # A confirmation also locks this row first.
        rows = list_unconfirmed(before=before).select_for_update(of=("self",), skip_locked=True)
        users: list[User] = [address.user for address in rows[:BATCH_SIZE]]
        if not users:
            return 0
        for user in users:
            sign_out_everywhere(user=user)
        ids = [user.account_id for user in users]
        while not erase_some(Account, ids):
            pass
        # A database trigger retires the name of every deleted account. These names become free again, because nobody has ever
        # seen the accounts.
        names = [user.account.username.lower() for user in users]
        RetiredUsername.objects.filter(username__one_of=names).delete()
    return len(users)


_SALT: Final = "accounts.new_email"
LINK_SECONDS: Final = 3 * 24 * 3600


def request_email_change(*, user: User, email: str, address: str) -> None:
    """Request a mail to a new address with a link that confirms it; the old address stays until the link is opened, and gets a
    notice.

    A second request replaces the first. `address` is the IP address of the client. Publishes EmailChangeRequested and
    SecurityChanged. Raises Invalid for an address that is malformed, blocked or in use; RateLimited as
    `request_confirmation` does.
    """
    _count_request(user, rate_key(address))
    new_email = checked_email(email)
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(new_email=new_email)
        publish(EmailChangeRequested(user_id=user.pk))
        report_security_change(user=user, kind=EMAIL_CHANGE_REQUESTED, address=address)


def cancel_email_change(*, user: User) -> None:
    """Cancel a requested change: the address stays, and the link that was sent no longer works."""
    User.objects.filter(pk=user.pk).update(new_email=None)


def change_email(*, user: User, key: str, session_key: str | None, address: str) -> None:
    """Make the address to which the link was sent the user's only address.

    Other browsers are signed out, and the old address gets a mail. Publishes EmailChanged. Raises NotFound for a link of
    another user, or a link that is too old, used or replaced; Invalid when somebody else has taken the address meanwhile.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        new_email = address_in(key, user=locked)
        if User.objects.exclude(pk=user.pk).filter(email__lower=new_email.lower()).exists():
            raise Invalid.of([FieldError.taken("email")], details=True)
        replace_email(locked, new_email)
        end_sessions(user=user, except_key=session_key)
        publish(EmailChanged(user_id=user.pk, old_email=user.email, address=address))


def address_in(key: str, *, user: User) -> str:
    """Return the address in the key of a link. Raises NotFound in the same cases as `change_email`."""
    try:
        user_id, email = signing.loads(key, salt=_SALT, max_age=LINK_SECONDS)
    except signing.BadSignature:
        raise NotFound from None
    if user_id != user.pk or email != user.new_email:
        raise NotFound
    return str(email)


def send_email_change_mails(events: Sequence[EmailChangeRequested]) -> None:
    """Handle EmailChangeRequested: send a link to the new address unless the change was cancelled. Raises Unavailable."""
    waiting = User.objects.select_related("account").filter(
        pk__one_of={event.user_id for event in events}, new_email__isnull=False
    )
    send_all(
        Letter(user, user.new_email, "email_change", {"link": _link(user)})
        for user in waiting.order_by("pk")
        if user.new_email is not None
    )


def send_email_changed_mails(events: Sequence[EmailChanged]) -> None:
    """Handle EmailChanged: send a mail to the old address. Raises Unavailable."""
    users = {
        user.pk: user
        for user in User.objects.select_related("account").filter(pk__one_of={event.user_id for event in events})
    }
    send_all(
        Letter(users[event.user_id], event.old_email, "email_changed", {"address": event.address})
        for event in events
        if event.user_id in users
    )


def _link(user: User) -> str:
    key = signing.dumps([user.pk, user.new_email], salt=_SALT)
    return links.web_url(reverse("confirm_new_email", args=[key]))


def checked_email(email: str) -> str:
    """Return a new address in lower case. Raises Invalid with `details`. May query the DNS: call it outside transactions."""
    address = email.strip().lower()
    require_valid(
        email_errors(address) or load_email_findings(address, look_up_mail_hosts(address)).errors(), details=True
    )
    return address


def replace_email(user: User, email: str) -> None:
    """Replace the addresses of a user, whose row is locked, with the confirmed `email`. Raises Invalid if it is in use."""
    try:
        with transaction.atomic():
            EmailAddress.objects.filter(user=user).delete()
            EmailAddress.objects.create(user=user, email=email, primary=True, verified=True)
            User.objects.filter(pk=user.pk).update(email=email, new_email=None)
    except IntegrityError:
        raise Invalid.of([FieldError.taken("email")], details=True) from None
    user.email, user.new_email = email, None
