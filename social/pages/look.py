"""Name, icons, colours and style sheet of this server in the head and the header of its pages."""

import mimetypes
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.templatetags.static import static

from social.kernel.identity import ICON_SIZES, Identity
from social.kernel.media import storage
from social.kernel.text.markup import plain

#: Colours of the browser's own bars, for a server without a colour: the background of the pages.
_LIGHT_PAPER: Final = "#f6f5f1"
_DARK_PAPER: Final = "#12171a"
#: Sizes of the icons of this software.
STATIC_SIZES: Final = (36, 48, 72, 96, 144, 192, 256, 384, 512)


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon: its address, media type, and size in pixels ("any" for a drawing)."""

    url: str
    type: str
    sizes: str


def look_of(identity: Identity) -> dict[str, Any]:
    """Return the template values of a server's look; makes no query."""
    drawing = _drawing(identity)
    icons = list_icons(identity)
    favicons = _stored_icons(identity.favicons) or _stored_icons(identity.icons)
    palette = identity.palette
    return {
        "site_name": identity.name,
        "site_description": plain(identity.description),
        "site_open": identity.registrations != "closed",
        "site_icon": icons[-1].url if identity.icons else drawing.url,
        "favicons": favicons or [drawing, *(icon for icon in icons if icon.sizes in ("48x48", "192x192"))],
        "touch_icon": next(icon for icon in icons if icon.sizes == "192x192"),
        "theme_light": palette.light.accent if palette is not None else _LIGHT_PAPER,
        "theme_dark": palette.dark.accent if palette is not None else _DARK_PAPER,
        "stylesheet_url": f"/custom.css?v={identity.version}" if identity.version else "",
    }


def list_icons(identity: Identity) -> list[Icon]:
    """Return the icons for home screens: the owner's icons, or this software's icons."""
    return _stored_icons(identity.icons) or [
        Icon(static(f"icons/icon-{size}.png"), "image/png", f"{size}x{size}") for size in STATIC_SIZES
    ]


def _stored_icons(paths: Any) -> list[Icon]:
    return [
        Icon(_path(paths[str(size)]), mimetypes.guess_type(paths[str(size)])[0] or "image/png", f"{size}x{size}")
        for size in ICON_SIZES
        if str(size) in paths
    ]


def _path(stored: str) -> str:
    return storage.url(stored).removeprefix(settings.BASE_URL)


def _drawing(identity: Identity) -> Icon:
    url = f"/icon.svg?v={identity.version}" if identity.colour else static("icon.svg")
    return Icon(url, "image/svg+xml", "any")
