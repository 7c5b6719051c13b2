"""Checks and cuts the single values that a page, or a provider, says about a page; what is unusable becomes nothing.

Nothing of a page's or a provider's HTML is passed on. All that is taken is text, cut and without characters nobody sees,
and addresses of http or https; of a player only its address, and only of the providers in `_PLAYERS` (security row 2).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final

from social.kernel.http.addresses import parse_url
from social.kernel.http.errors import Refused
from social.kernel.text.languages import choose_language
from social.kernel.text.names import visible_text
from statuses.models.card import NAME_LIMIT, URL_LIMIT

_SIDE_LIMIT: Final = 10_000
# Where players may come from: host and the beginning of the path, as these providers document their frames.
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
    """A text as one line of what can be seen, cut to fit; empty for what is none."""
    if not isinstance(value, str):
        return ""
    # Some write references in JSON or twice; more than that is their own affair.
    return visible_text(unescape(value[: limit * 8]))[:limit].strip()


def address_of(value: Any) -> str:
    """An address of http or https in its plain spelling; empty for anything else."""
    if not isinstance(value, str):
        return ""
    try:
        url = parse_url(value.strip()).url
    except Refused:
        return ""
    return url if len(url) <= URL_LIMIT else ""


def player_of(url: str) -> str:
    """The address, if it is a player of a provider whose frames are shown."""
    if not url.startswith("https://"):
        return ""
    target = parse_url(url)
    start = _PLAYERS.get(target.netloc)
    path = url[len(f"https://{target.netloc}") :]
    return url if start is not None and path.startswith(start) and ".." not in path else ""


def side_of(value: Any) -> int:
    """A width or height in pixels; 0 for none that is of use."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 5:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _SIDE_LIMIT else 0


def language_of(*values: Any) -> str | None:
    """The first of these codes that names a language."""
    return choose_language(*(value if isinstance(value, str) else None for value in values))


def moment_of(value: Any) -> datetime | None:
    """A time by ISO 8601 or RFC 2822; None for what cannot be read, and for times that no page is of."""
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
    """The address of an account, without its sign; empty for what is none."""
    address = value.strip().removeprefix("@")
    username, at, domain = address.partition("@")
    plain = len(address) <= NAME_LIMIT and address.isprintable() and not re.search(r"[\s/?#]", address)
    return address if username and at and domain and plain else ""
