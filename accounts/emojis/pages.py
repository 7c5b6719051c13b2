"""Custom emojis on pages, as pictures."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from accounts.emojis.queries import SHORTCODE
from social.pages.frame import path_of

# An HTML tag, as this server's formatter, sanitizer or `escape` writes it: attribute values may contain ">".
_TAG: Final = re.compile(r"""(<(?:"[^"]*"|'[^']*'|[^"'>])*>)""")


def with_emojis(html: str, emojis: Iterable[Mapping[str, Any]]) -> SafeString:
    """Return the safe HTML with the shortcodes of these CustomEmoji entities replaced by still pictures."""
    pictures = {
        emoji["shortcode"]: format_html(
            '<img class="emoji" src="{}" alt=":{}:" title=":{}:" width="20" height="20">',
            path_of(emoji["static_url"]),
            emoji["shortcode"],
            emoji["shortcode"],
        )
        for emoji in emojis
    }
    if not pictures:
        return mark_safe(html)  # noqa: S308 (the caller passes safe HTML)
    parts = _TAG.split(html)
    parts[::2] = [SHORTCODE.sub(lambda found: pictures.get(found[1], found[0]), text) for text in parts[::2]]
    return mark_safe("".join(parts))  # noqa: S308 (parts of safe HTML, and escaped pictures)
