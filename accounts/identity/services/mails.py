"""Sends mails about people's accounts, in event handlers, so that no request waits for a mail server (security row 64).

The handlers raise Unavailable when the mail server does not respond. The outbox retries the handlers, so some mails may be sent
twice.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allauth.account import app_settings
from allauth.account.utils import user_pk_to_url_str
from django.core.cache import cache
from django.core.mail import get_connection
from django.db import transaction
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.events import PasswordResetRequested, SecurityChanged, UserApproved
from accounts.identity.policies.sign_up import email_digest
from accounts.models import User
from accounts.policies.mails import list_headers
from accounts.queries.site_settings import find_site_title
from social.kernel import links, mail, redis
from social.kernel.events import publish
from social.kernel.identity import default_language

logger = logging.getLogger("social.mails")

SECOND_FACTOR_LOCKED: Final = "second_factor_locked"
SECOND_FACTOR_RESET: Final = "second_factor_reset"
RECOVERY_CODE_USED: Final = "recovery_code_used"
RECOVERY_CODES_MADE: Final = "recovery_codes_generated"
PASSKEY_REFUSED: Final = "passkey_refused"
EMAIL_CHANGE_REQUESTED: Final = "email_change_requested"
IDENTITY_LINKED: Final = "identity_linked"
IDENTITY_UNLINKED: Final = "identity_unlinked"
# Equal to the duration of the lock (settings.ACCOUNT_RATE_LIMITS), so that each lock causes one mail.
_LOCK_SECONDS: Final = 600
MAILS_A_DAY: Final = 10
"""Maximum number of mails of one kind per address and day, for kinds that people other than the owner can trigger."""
_DAY: Final = 24 * 3600
# The counter of each kind of mail. Strangers can request links, which must not use up the limit on mails about security.
_BOUNDED: Final[Mapping[str, str]] = {
    "confirmation": "links",
    "email_change": "links",
    "password_reset": "links",
    "security": "security",
    "email_changed": "security",
}
_SECURITY: Final[Mapping[str, str | Promise]] = {
    "password_changed": _("Your password has been changed."),
    "password_set": _("Your password has been changed."),
    "password_reset": _("Your password has been changed with a link from an e-mail."),
    EMAIL_CHANGE_REQUESTED: _(
        "A new e-mail address has been entered for your account. It will replace this one as soon as "
        "somebody opens the link that was sent to it."
    ),
    "totp_activated": _("A second factor has been set up: an authenticator app."),
    "totp_deactivated": _("The authenticator app has been switched off."),
    "webauthn_added": _("A passkey has been added."),
    "webauthn_removed": _("A passkey has been removed."),
    PASSKEY_REFUSED: _(
        "Somebody has tried to sign in with what may be a copy of one of your passkeys, and was refused. Remove that "
        "passkey if you do not trust it any more."
    ),
    RECOVERY_CODES_MADE: _("New recovery codes have been made; the old ones no longer work."),
    RECOVERY_CODE_USED: _("One of your recovery codes has been used. It will not work again."),
    IDENTITY_LINKED: _("Another way to sign in has been added: signing in with an organisation."),
    IDENTITY_UNLINKED: _("It is no longer possible to sign in to your account with an organisation."),
    SECOND_FACTOR_RESET: _(
        "The people who run this server have removed your second factor. All browsers and applications have been signed "
        "out. Your password is enough to sign in until you set up another one."
    ),
    SECOND_FACTOR_LOCKED: _(
        "Somebody who knows your password has typed too many wrong codes for your second factor. Codes are refused for "
        "ten minutes now. If it was not you, change your password."
    ),
}


@dataclass(frozen=True)
class Letter:
    """Mail to a user; `context` is for the template, `switch` the preference (`policies.mails`) that turns such mails off."""

    user: User
    address: str
    template: str
    context: Mapping[str, Any]
    switch: str = ""


def request_password_reset(*, user: User) -> None:
    """Request a password reset link for the user. Publishes PasswordResetRequested."""
    with transaction.atomic():
        publish(PasswordResetRequested(user_id=user.pk))


def report_security_change(*, user: User, kind: str, address: str) -> None:
    """Request a mail to the user about a change to the security of their account. Publishes SecurityChanged.

    `kind` is the last part of allauth's name for the mail, or a constant of this module; other kinds are ignored.
    `address` is the IP address that the user is shown, or empty.
    """
    if kind in _SECURITY:
        with transaction.atomic():
            publish(SecurityChanged(user_id=user.pk, kind=kind, address=address))


def report_second_factor_lock(*, user: User, address: str) -> None:
    """Request a mail saying that codes of the second factor are refused for a while; one mail per lock (security row 26)."""
    if cache.add(f"second-factor-locked:{user.pk}", True, timeout=_LOCK_SECONDS):
        report_security_change(user=user, kind=SECOND_FACTOR_LOCKED, address=address)


def send_password_reset_mails(events: Sequence[PasswordResetRequested]) -> None:
    """Handle PasswordResetRequested: send a link that is valid for three days, but only until the password changes."""
    tokens = app_settings.PASSWORD_RESET_TOKEN_GENERATOR()

    def link(user: User) -> str:
        values = {"uidb36": user_pk_to_url_str(user), "key": tokens.make_token(user)}
        return links.web_url(reverse("account_reset_password_from_key", kwargs=values))

    users = _users(event.user_id for event in events)
    send_all(Letter(user, user.email, "password_reset", {"link": link(user)}) for user in users.values())


def send_security_mails(events: Sequence[SecurityChanged]) -> None:
    """Handle SecurityChanged: send the mails."""
    users = _users(event.user_id for event in events)
    link = links.web_url(reverse("account_change_password"))
    send_all(
        Letter(
            users[event.user_id],
            users[event.user_id].email,
            "security",
            {"change": _SECURITY[event.kind], "address": event.address, "link": link},
        )
        for event in events
        if event.user_id in users
    )


def send_approval_mails(events: Sequence[UserApproved]) -> None:
    """Handle UserApproved: send the mail that the sign-up page has promised."""
    link = links.web_url(reverse("account_login"))
    users = _users(event.user_id for event in events)
    send_all(Letter(user, user.email, "approval", {"link": link}) for user in users.values())


def send_all(letters: Iterable[Letter]) -> None:
    """Send mails in their recipients' languages. An address gets at most MAILS_A_DAY mails of a kind. Raises Unavailable."""
    connection, server_name = get_connection(), find_site_title()
    try:
        for letter in letters:
            bound = _BOUNDED.get(letter.template)
            counter = redis.key("cache", "mails", bound or "", email_digest(letter.address))
            if bound and _mails_today(counter) >= MAILS_A_DAY:
                logger.warning("an address has had %s mails about %s today: no more are sent", MAILS_A_DAY, bound)
                continue
            context, headers = {"username": letter.user.account.username, **letter.context}, None
            if letter.switch:
                address, headers = list_headers(letter.user.pk, letter.switch)
                context |= {"unsubscribe": address, "choose": links.web_url(reverse("settings_preferences"))}
            mail.send(
                *(letter.address, letter.template, context, letter.user.locale or default_language()),
                server_name=server_name,
                headers=headers,
                connection=connection,
            )
            if bound:
                # A mail is counted after it was sent, because a mail that the mail server has not accepted is sent again.
                _count_mail(counter)
    finally:
        connection.close()


def _mails_today(counter: str) -> int:
    sent = 0
    with redis.best_effort("count mails"):
        sent = int(redis.client("cache").get(counter) or 0)
    return sent


def _count_mail(counter: str) -> None:
    with redis.best_effort("count mails"):
        pipeline = redis.client("cache").pipeline(transaction=True)
        pipeline.incr(counter)
        pipeline.expire(counter, _DAY, nx=True)
        pipeline.execute()


def _users(user_ids: Iterable[int]) -> dict[int, User]:
    ids = set(user_ids)
    users = User.objects.select_related("account").filter(pk__one_of=ids)
    return {user.pk: user for user in users.order_by("pk")}
