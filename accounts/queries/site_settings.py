"""Reads the settings an operator changes while the server runs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import SiteSetting

_DEFAULTS: Final[dict[str, Any]] = {
    "site_extended_description": "",
    "site_privacy_policy": "",
    "site_contact_email": "",
    "site_contact_username": "",
    "site_status_page_url": "",
    "site_closed_message": "",
    "site_show_domain_blocks": "disabled",
    "site_show_domain_blocks_rationale": "disabled",
    "site_publish_activity": True,
    "site_publish_peers": True,
    "site_thumbnail": "",
    "site_trends_without_review": False,
}


def load_site_texts(*, raw: bool = False) -> dict[str, Any]:
    """Texts of staff about this server, else what fits any server; `raw`: only what they have written."""
    stored = dict(SiteSetting.objects.filter(key__startswith="site_").values_list("key", "value"))
    if raw:
        return stored
    return (
        _DEFAULTS
        | stored
        | {
            "site_title": stored.get("site_title") or settings.LOCAL_DOMAIN,
            "site_short_description": stored.get("site_short_description")
            or _("A social networking server, open to the fediverse."),
            "site_languages": stored.get("site_languages") or [settings.LANGUAGE_CODE],
        }
    )


def find_site_text(key: str) -> tuple[str, datetime] | None:
    """Find a text that staff have written, and since when it stands; None for an empty one."""
    found = SiteSetting.objects.filter(key=key).first()
    return (str(found.value), found.updated_at) if found is not None and found.value else None


def find_site_title() -> str:
    """The name of this server: what staff have written, else its domain."""
    found = find_site_text("site_title")
    return settings.LOCAL_DOMAIN if found is None else found[0]
