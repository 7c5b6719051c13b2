"""Mails that people may switch off, and the links in them that do so (RFC 8058)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.core.signing import BadSignature, Signer
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from social.kernel import links

STAFF: Final = "staff_mails"
"""Preference of staff: mails about reports and appeals."""

SIGN_UPS: Final = "sign_up_mails"
"""Preference of staff: mails about people who wait for approval."""

SWITCHES: Final[Mapping[str, str | Promise]] = {
    STAFF: _("Mails about reports and appeals"),
    SIGN_UPS: _("Mails about people who wait for approval"),
}
"""Preferences that switch mails, and what they are called. Each is on until somebody has switched it off."""

_SIGNER: Final = Signer(salt="accounts.mails")


def is_on(preferences: Mapping[str, Any], switch: str) -> bool:
    """Tell whether mails are on, by somebody's preferences."""
    return bool(preferences.get(switch, True))


def list_headers(user_id: int, switch: str) -> tuple[str, dict[str, str]]:
    """The address at which mails of a switch can be ended, for ever good, and the headers that name it to mail programs.

    What mail programs post there ends them at once (RFC 8058); a person sees a page.
    """
    url = links.web_url(reverse("mail_unsubscribe", args=[_SIGNER.sign(f"{user_id}-{switch}")]))
    return url, {"List-Unsubscribe": f"<{url}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}


def signed_switch(signed: str) -> tuple[int, str] | None:
    """The user and the switch in an address of `list_headers`; None for any other text."""
    try:
        number, _hyphen, switch = _SIGNER.unsign(signed).partition("-")
    except BadSignature:
        return None
    return (int(number), switch) if switch in SWITCHES else None
