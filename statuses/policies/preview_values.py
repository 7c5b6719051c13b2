"""Validates and truncates single values that a page or provider gives for a preview; unusable values become empty.

No HTML of a page or provider is passed on: only truncated text without invisible characters, http and https addresses, and
the address of a player whose provider is in `_PLAYERS` (security row 2).
"""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final
from urllib.parse import urljoin

from social.kernel.http.addresses import parse_url
from social.kernel.http.errors import Refused
from social.kernel.text.languages import choose_language
from social.kernel.text.names import visible_text
from statuses.models.card import NAME_LIMIT, URL_LIMIT

_SIDE_LIMIT: Final = 10_000
# Allowed players: host and beginning of the path, as these providers document their frames.
_PLAYERS: Final = {
    "www.youtube.com": "/embed/",
    "www.youtube-nocookie.com": "/embed/",
    "player.vimeo.com": "/video/",
    "geo.dailymotion.com": "/player",
    "www.dailymotion.com": "/embed/video/",
    "open.spotify.com": "/embed/",
    "w.soundcloud.com": "/player",
    "bandcamp.com": "/EmbeddedPlayer/",
}


def text_of(value: Any, limit: int) -> str:
    """Return a text as one line of visible characters, truncated; empty if the value is not text."""
    if not isinstance(value, str):
        return ""
    # Some pages write HTML references in JSON, or escape twice; deeper escaping is not resolved.
    return visible_text(unescape(value[: limit * 8]))[:limit].strip()


def first_text(limit: int, *values: Any) -> str:
    """Return the first of the values that is a text, in the form of `text_of`; a list stands for its first item."""
    firsts = (value[0] if isinstance(value, list) and value else value for value in values)
    return next(filter(None, (text_of(value, limit) for value in firsts)), "")


def address_of(value: Any, base: str) -> str:
    """Return an http or https address, which may be relative to `base`, in its normal form; empty for anything else."""
    if not isinstance(value, str) or not value.strip():
        return ""
    try:
        url = parse_url(urljoin(base, value.strip())).url
    except (Refused, ValueError):
        return ""
    return url if len(url) <= URL_LIMIT else ""


def player_of(url: str) -> str:
    """Return the address if it is a player of a provider in `_PLAYERS`, otherwise an empty text."""
    if not url.startswith("https://"):
        return ""
    target = parse_url(url)
    start = _PLAYERS.get(target.netloc)
    path = url[len(f"https://{target.netloc}") :]
    return url if start is not None and path.startswith(start) and ".." not in path else ""


def side_of(value: Any) -> int:
    """Return a width or height in pixels; 0 if the value is unusable."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _SIDE_LIMIT else 0


def language_of(*values: Any) -> str | None:
    """Return the first of these codes that names a language."""
    return choose_language(*(value if isinstance(value, str) else None for value in values))


def moment_of(value: Any) -> datetime | None:
    """Parse a time in ISO 8601 or RFC 2822; None if the time cannot be read or is before 1900 or after 2099."""
    if not isinstance(value, str):
        return None
    text = value.strip()[:40]
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text)
            moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            continue
        return moment if 1900 <= moment.year < 2100 else None
    return None


def creator_of(value: str) -> str:
    """Return the address of an account without a leading `acct:` or `@`; empty if `value` is not such an address."""
    address = value.strip().removeprefix("acct:").removeprefix("@")
    username, at, domain = address.partition("@")
    plain = len(address) <= NAME_LIMIT and address.isprintable() and not re.search(r"[\s/?#]", address)
    return address if username and at and domain and plain else ""
