"""Formatted text of pages: misleading links are preceded by their real host, and headings begin below those of the page."""

import re
from html import unescape
from typing import Final
from urllib.parse import urlsplit

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from social.kernel.text.markup import plain
from social.kernel.text.names import normalise_domain, unambiguous_domain

_LINK: Final = re.compile(r'(<a\b[^>]*\bhref="([^"]*)"[^>]*>)(.*?)</a>', re.DOTALL)
_HEADING: Final = re.compile(r"<(/?)h([1-6])\b")
_READS_LIKE: Final = re.compile(r"(?:https?://)?([^\s/?#@:]+\.[^\s/?#@:.]{2,})(?::[0-9]+)?(?:[/?#]|\Z)", re.IGNORECASE)


def shown_html(html: str) -> SafeString:
    """Add the hosts of misleading links to HTML that this server's formatter or sanitizer has produced (security row 62).

    The host (in Punycode) precedes the text of a link if the host has letters of other scripts, if the URL has a user name,
    or if the text is the URL of another host.
    """
    if "<a" not in html:
        return mark_safe(html)  # noqa: S308  # as the docstring says
    return mark_safe(_LINK.sub(_with_host, html))  # noqa: S308  # the host is escaped


def with_headings_below(html: SafeString, level: int = 1) -> SafeString:
    """Return HTML whose headings begin one level below `level` and skip none, for a page that has other headings."""
    open_levels: list[int] = []

    def shifted(tag: re.Match[str]) -> str:
        if not tag[1]:
            while open_levels and open_levels[-1] >= int(tag[2]):
                open_levels.pop()
            open_levels.append(int(tag[2]))
        return f"<{tag[1]}h{min(level + len(open_levels), 6)}"

    return mark_safe(_HEADING.sub(shifted, html))  # noqa: S308  # only the numbers of headings are changed


def _with_host(link: re.Match[str]) -> str:
    host = _misread_host(unescape(link[2]), plain(link[3]))
    if not host:
        return link[0]
    return f'{link[1]}<bdi class="host" dir="ltr">{escape(host)}</bdi> {link[3]}</a>'


def _misread_host(url: str, text: str) -> str:
    """Return the real host of a misleading link; empty for other links and for links without a host."""
    try:
        netloc = urlsplit(url).netloc
    except ValueError:
        return url
    real = netloc.rpartition("@")[2]
    if not real.isascii() or "xn--" in real.lower() or real != netloc:
        return unambiguous_domain(real).partition(" ")[0]
    reads_like = _READS_LIKE.match(text)
    if reads_like is None or _comparable_host(reads_like[1]) == _comparable_host(real.partition(":")[0]):
        return ""
    return real


def _comparable_host(host: str) -> str:
    return (normalise_domain(host) or host).lower().removeprefix("www.")
