"""The look of this server on its pages: its picture, and the style sheet and icon in the owner's colour."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.serializers.account import file_url
from social.kernel.identity import current_identity

_YEAR: Final = "public, max-age=31536000, immutable"
_MINUTE: Final = "public, max-age=60"
_OWN_COLOUR: Final = "#0b6e66"


def server_picture(request: HttpRequest) -> dict[str, Callable[[], str]]:
    """Context processor for the address of this server's picture, which link previews show for pages without a person."""
    return {"server_picture": lambda: file_url(current_identity().picture, "", "thumbnail.png")}


@require_safe
def custom_css(request: HttpRequest) -> HttpResponse:
    """`/custom.css`: the owner's colours and style sheet (Mastodon has the same path), cached for long with its current
    version.
    """
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
