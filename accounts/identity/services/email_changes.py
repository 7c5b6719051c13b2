"""Replaces a user's e-mail address by another address that they have confirmed (security rows 24, 29)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from allauth.account.models import EmailAddress
from django.core import signing
from django.db import IntegrityError, transaction
from django.urls import reverse

from accounts.events import EmailChanged, EmailChangeRequested
from accounts.identity.policies.sign_up import email_errors, taken
from accounts.identity.queries.sign_up import load_email_findings
from accounts.identity.services.mails import EMAIL_CHANGE_REQUESTED, Letter, report_security_change, send_all
from accounts.identity.services.sessions import end_sessions
from accounts.identity.services.signing_up import look_up_mail_hosts
from accounts.models import User
from social.api import admission
from social.api.addresses import rate_key
from social.api.limits import limited, refuse_exceeded
from social.kernel import links
from social.kernel.errors import Invalid, NotFound
from social.kernel.events import publish

_SALT: Final = "accounts.new_email"
LINK_SECONDS: Final = 3 * 24 * 3600


def request_email_change(*, user: User, email: str, address: str) -> None:
    """Request a mail with a link to a new address; the old address stays until the link is opened, and gets a mail,
    too.

    A second request replaces the first. `address` is the IP address of the client. Publishes EmailChangeRequested and
    SecurityChanged. Raises Invalid for an address that is malformed, blocked or in use; RateLimited as
    `request_confirmation` does.
    """
    by_address, by_user = limited("confirmations")
    counts = [admission.count(by_address, address=rate_key(address)), admission.count(by_user, subject=str(user.pk))]
    refuse_exceeded(counts)
    wanted = email.strip().lower()
    errors = email_errors(wanted)
    if not errors:
        errors = load_email_findings(wanted, look_up_mail_hosts(wanted)).errors()
    if errors:
        raise Invalid.of(errors, details=True)
    with transaction.atomic():
        User.objects.filter(pk=user.pk).update(new_email=wanted)
        publish(EmailChangeRequested(user_id=user.pk))
        report_security_change(user=user, kind=EMAIL_CHANGE_REQUESTED, address=address)


def cancel_email_change(*, user: User) -> None:
    """Cancel a requested change: the address stays, and the link that was sent no longer works."""
    User.objects.filter(pk=user.pk).update(new_email=None)


def change_email(*, user: User, key: str, session_key: str | None, address: str) -> None:
    """Make the address to which the link was sent the user's only address.

    Other browsers are signed out, and the old address gets a mail. Publishes EmailChanged. Raises NotFound for a link
    of another user, or one that is too old, used or replaced; Invalid when somebody else has taken the address
    meanwhile.
    """
    with transaction.atomic():
        locked = User.objects.select_for_update(of=("self",)).get(pk=user.pk)
        wanted = address_in(key, user=locked)
        if User.objects.exclude(pk=user.pk).filter(email__lower=wanted.lower()).exists():
            raise Invalid.of([taken("email")], details=True)
        try:
            with transaction.atomic():
                replace_email(locked, wanted)
        except IntegrityError:
            raise Invalid.of([taken("email")], details=True) from None
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


def replace_email(user: User, email: str) -> None:
    """Replace all addresses of a user, whose row the caller has locked, by `email`, which counts as confirmed."""
    EmailAddress.objects.filter(user=user).delete()
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=True)
    user.email, user.new_email = email, None
    User.objects.filter(pk=user.pk).update(email=email, new_email=None)
