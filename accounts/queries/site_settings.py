"""Reads the settings an operator changes while the server runs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import SiteSetting


def load_site_texts() -> dict[str, Any]:
    """Name, descriptions and contact of this server: what staff have written, else what fits any server."""
    stored = dict(SiteSetting.objects.filter(key__startswith="site_").values_list("key", "value"))
    return {
        "site_title": stored.get("site_title") or settings.LOCAL_DOMAIN,
        "site_short_description": stored.get("site_short_description")
        or _("A social networking server, open to the fediverse."),
        "site_contact_email": stored.get("site_contact_email") or "",
        "site_contact_username": stored.get("site_contact_username") or "",
        "site_languages": stored.get("site_languages") or [settings.LANGUAGE_CODE],
    }
