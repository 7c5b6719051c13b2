"""Mails that people may switch off, and the unsubscribe links in these mails (RFC 8058)."""

from collections.abc import Mapping
from typing import Any, Final

from django.core.signing import BadSignature, Signer
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from social.kernel import links

STAFF: Final = "staff_mails"
"""Preference for staff: mails about reports and appeals."""

SIGN_UPS: Final = "sign_up_mails"
"""Preference for staff: mails about people who are waiting for approval."""

DIGEST: Final = "digest_mails"
"""Preference for staff: a daily mail about pending decisions."""

NOTIFICATIONS: Final = "notification_mails"
"""Preference: how notifications are mailed, one of MODES."""

SINGLE: Final = "single"
DAILY: Final = "daily"
NO_MAILS: Final = "none"
MODES: Final = (SINGLE, DAILY, NO_MAILS)
"""Ways in which notifications are mailed: individually, as a daily digest, or not at all. The first is the default."""

SUMMARIES: Final = "summary_mails"
"""Preference: a weekly summary for people who are away."""

MAILED_TYPES: Final = ("mention", "quote", "follow", "follow_request", "reblog", "favourite")
"""Types of notifications that can be mailed; `type_switch` returns the name of each type's preference."""


def type_switch(kind: str) -> str:
    """Return the name of the preference for a type of notifications."""
    return f"{kind}_mails"


SWITCHES: Final[Mapping[str, str | Promise]] = {
    STAFF: _("E-mails about reports and appeals"),
    SIGN_UPS: _("E-mails about sign-ups waiting for approval"),
    DIGEST: _("A daily e-mail about what is waiting for you"),
    NOTIFICATIONS: _("Notifications of all kinds"),
    SUMMARIES: _("What has happened while you were away for a week or longer"),
    type_switch("mention"): _("Somebody mentions you"),
    type_switch("quote"): _("Somebody quotes you"),
    type_switch("follow"): _("Somebody follows you"),
    type_switch("follow_request"): _("Somebody asks to follow you"),
    type_switch("reblog"): _("Somebody boosts your post"),
    type_switch("favourite"): _("Somebody favourites your post"),
}
"""Preferences that switch mails on or off, and their titles."""

STAFF_SWITCHES: Final = frozenset({STAFF, SIGN_UPS, DIGEST})
OPTIONAL_SWITCHES: Final = frozenset({type_switch("reblog"), type_switch("favourite"), DIGEST})

_SIGNER: Final = Signer(salt="accounts.mails")


def is_on(preferences: Mapping[str, Any], switch: str) -> bool:
    """Tell whether the preferences switch on the kind of mails named by `switch`; most kinds are on by default."""
    if switch == NOTIFICATIONS:
        return mode_of(preferences) != NO_MAILS
    return bool(preferences.get(switch, switch not in OPTIONAL_SWITCHES))


def mode_of(preferences: Mapping[str, Any]) -> str:
    """Return the value of MODES that these preferences choose."""
    return str(preferences.get(NOTIFICATIONS, SINGLE))


def off_value(switch: str) -> Any:
    """Return the value of the preference `switch` that switches its mails off."""
    return NO_MAILS if switch == NOTIFICATIONS else False


def list_headers(user_id: int, switch: str) -> tuple[str, dict[str, str]]:
    """Return the unsubscribe address for a kind of mails, which never expires, and the headers that contain it (RFC 8058)."""
    url = links.web_url(reverse("mail_unsubscribe", args=[_SIGNER.sign(f"{user_id}-{switch}")]))
    return url, {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def signed_switch(signed: str) -> tuple[int, str] | None:
    """Return the user's id and the switch in an unsubscribe address of `list_headers`; None for any other text."""
    try:
        number, _hyphen, switch = _SIGNER.unsign(signed).partition("-")
    except BadSignature:
        return None
    return (int(number), switch) if switch in SWITCHES else None
