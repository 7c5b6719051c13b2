"""The look of this server: its picture, style sheet and icon, and the manifest for home screens (W3C)."""

from collections.abc import Callable
from typing import Any, Final

import orjson
from django.conf import settings
from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language, get_language_bidi
from django.views.decorators.http import require_safe

from accounts.queries.site_settings import load_site_texts
from accounts.serializers.account import file_url
from social.kernel.identity import current_identity
from social.pages.frame import url_of
from social.pages.look import list_icons

_YEAR: Final = "public, max-age=31536000, immutable"
_MINUTE: Final = "public, max-age=60"
_OWN_COLOUR: Final = "#0b6e66"


def server_picture(request: HttpRequest) -> dict[str, Callable[[], str]]:
    """Context processor for the address of this server's picture, which link previews show for pages without a person."""
    return {"server_picture": lambda: file_url(current_identity().picture, "", "thumbnail.png")}


@require_safe
def custom_css(request: HttpRequest) -> HttpResponse:
    """`/custom.css`: the owner's colours and style sheet, cached for a year if the URL has their current version."""
    identity = current_identity()
    return _answer(request, identity.stylesheet, "text/css; charset=utf-8", identity.version)


@require_safe
def coloured_icon(request: HttpRequest) -> HttpResponse:
    """`/icon.svg`: the default icon in the owner's colour, for a server without an icon of its own."""
    identity = current_identity()
    with open(str(finders.find("icon.svg")), encoding="utf-8") as file:
        drawing = file.read()
    if identity.palette is not None:
        drawing = drawing.replace(_OWN_COLOUR, identity.palette.light.accent)
    return _answer(request, drawing, "image/svg+xml", identity.version)


def _answer(request: HttpRequest, text: str, content_type: str, version: str) -> HttpResponse:
    is_current = bool(version) and request.GET.get("v") == version
    headers = {"Cache-Control": _YEAR if is_current else _MINUTE, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(text, content_type=content_type, headers=headers)


#: Maximum number of characters of the name below an icon; home screens truncate longer names.
_SHORT: Final = 30


@require_safe
def manifest(request: HttpRequest) -> HttpResponse:
    """`/manifest`: name, icons and colours of this server, and the page to which texts can be shared (contract, endpoints)."""
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
