"""The manifest by which browsers put this server on a home screen (W3C, Web Application Manifest)."""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.templatetags.static import static
from django.utils.translation import get_language, get_language_bidi
from django.views.decorators.http import require_safe

from accounts.queries.site_settings import load_site_texts
from social.pages.frame import url_of

_ICON_SIZES: Final = (36, 48, 72, 96, 144, 192, 256, 384, 512)


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """`/manifest`: name, icons and colours of this server, and the page to share texts to (contract, endpoints)."""
    texts = load_site_texts()
    document: dict[str, Any] = {
        "id": "/",
        "name": texts["site_title"],
        "short_name": settings.LOCAL_DOMAIN,
        "description": texts["site_short_description"],
        "lang": get_language(),
        "dir": "rtl" if get_language_bidi() else "ltr",
        "start_url": "/",
        "scope": "/",
        "display": "minimal-ui",
        "background_color": "#f6f5f1",
        "theme_color": "#0b6e66",
        "categories": ["social"],
        "icons": [
            {"src": static(f"icons/icon-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png", "purpose": "any"}
            for size in _ICON_SIZES
        ],
    }
    share = url_of("share")
    if share:
        parameters = {name: name for name in ("title", "text", "url")}
        document["share_target"] = {"action": share, "method": "GET", "params": parameters}
    headers = {"Cache-Control": "public, max-age=3600", "Vary": "Accept-Language, Cookie"}
    return HttpResponse(orjson.dumps(document), content_type="application/manifest+json", headers=headers)
