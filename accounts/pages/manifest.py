"""The manifest that browsers read to add this server to a home screen (W3C, Web Application Manifest)."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language, get_language_bidi
from django.views.decorators.http import require_safe

from accounts.queries.site_settings import load_site_texts
from social.kernel.identity import current_identity
from social.pages.frame import url_of
from social.pages.look import list_icons

#: Limit of characters of a name below an icon; home screens truncate longer names.
_SHORT: Final = 30


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """`/manifest`: name, icons and colours of this server, and the page to share texts to (contract, endpoints)."""
    texts, palette = load_site_texts(), current_identity().palette
    document: dict[str, Any] = {
        "id": "/",
        "name": texts["site_title"],
        "short_name": _short_name(texts["site_title"]),
        "description": texts["site_short_description"],
        "lang": get_language(),
        "dir": "rtl" if get_language_bidi() else "ltr",
        "start_url": "/",
        "scope": "/",
        "display": "minimal-ui",
        "background_color": "#f6f5f1",
        "theme_color": palette.light.accent if palette is not None else "#0b6e66",
        "categories": ["social"],
        "icons": [
            {"src": icon.url, "sizes": icon.sizes, "type": icon.type, "purpose": "any"}
            for icon in list_icons(current_identity())
        ],
    }
    share = url_of("share")
    if share:
        parameters = {name: name for name in ("title", "text", "url")}
        document["share_target"] = {"action": share, "method": "GET", "params": parameters}
    headers = {"Cache-Control": "public, max-age=3600", "Vary": "Accept-Language, Cookie"}
    return HttpResponse(orjson.dumps(document), content_type="application/manifest+json", headers=headers)


def _short_name(title: str) -> str:
    return title if len(title) <= _SHORT else settings.LOCAL_DOMAIN
