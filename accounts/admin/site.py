"""The name of the server at the top of the admin."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from accounts.queries.site_settings import find_site_title


def site_title(request: HttpRequest) -> str:
    """Return the name of this server, which is read once for each request."""
    known: str | None = getattr(request, "staff_site_title", None)
    if known is None:
        known = find_site_title()
        request.staff_site_title = known  # type: ignore[attr-defined]  # kept for this request
    return known


def subtitle(request: HttpRequest) -> str:
    return str(settings.LOCAL_DOMAIN)
