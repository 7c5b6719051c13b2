"""Reads JSON that may be hostile: size, depth, and values of any type where one was expected.

Sources: contract, federation sections 5 and 16; security row 34.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import parse_qs, urldefrag

import orjson
from django.utils.dateparse import parse_datetime, parse_duration

from social.kernel import clock
from social.kernel.errors import KernelError
from social.kernel.http.addresses import parse_url
from social.kernel.text.names import clean_input

MAX_BYTES: Final = 1 << 20
MAX_DEPTH: Final = 32
MAX_ITEMS: Final = 1_000
MAX_SECONDS: Final = 1_000_000
MAX_URI: Final = 1_300
"""Bytes of the longest id that is kept: an index takes two of them."""


class Rejected(Exception):
    """Refusal to act upon what another server sent, for the reason given; trying again would change nothing."""


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`, within bounds. Raises Rejected for anything else."""
    document = parse_json(body)
    if not isinstance(document, dict):
        raise Rejected("the document is no JSON object")
    return document


def parse_json(body: bytes) -> Any:
    """The JSON value of `body`, within bounds. Raises Rejected for what is no JSON, too large, too deep or too long."""
    if len(body) > MAX_BYTES:
        raise Rejected("the document is too large")
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Rejected("the document is no JSON") from None
    if isinstance(document, dict | list):
        _check_bounds(document)
    return document


def _check_bounds(document: Any) -> None:
    # Level by level instead of by recursion: the depth is the sender's choice.
    level = [document]
    for _depth in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            children = item.values() if isinstance(item, dict) else item
            if len(item) > MAX_ITEMS:
                raise Rejected("the document has too many parts")
            below += [child for child in children if isinstance(child, dict | list)]
        if not below:
            return
        level = below
    raise Rejected("the document is nested too deeply")


def first(value: Any) -> Any:
    """The value, or the first of a list of values; None for an empty one."""
    if isinstance(value, list):
        return value[0] if value else None
    return value


def many(value: Any) -> list[Any]:
    """A list of values, also where there is one or none."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def kinds_of(document: Mapping[str, Any]) -> list[str]:
    """The types of an object, as far as they are texts."""
    return [kind for kind in many(document.get("type")) if isinstance(kind, str)]


def uri_of(value: Any) -> str | None:
    """The id of what is named or embedded, also by a bearcap (`bear:?u=...&t=...`); None for what has none that can be kept."""
    value = first(value)
    if isinstance(value, Mapping):
        value = value.get("id")
    if isinstance(value, str) and value.startswith("bear:"):
        value = first(parse_qs(value[: 4 * MAX_URI].partition("?")[2]).get("u"))
    if not isinstance(value, str) or not value or len(value.encode("utf-8", "replace")) > MAX_URI or "\0" in value:
        return None
    return value


def uris_of(value: Any, limit: int = MAX_ITEMS) -> list[str]:
    """The ids in a list, or of one thing."""
    found = (uri_of(item) for item in many(value)[:limit])
    return [uri for uri in found if uri is not None]


def web_uri(value: Any) -> str | None:
    """An http(s) address, as it was written; None for any other value."""
    uri = uri_of(value)
    return uri if uri is not None and origin_of(uri) is not None else None


def link_of(value: Any) -> str | None:
    """The address in a `url`: a text, a Link, or a list of them, of which an HTML page comes first."""
    items = many(value)
    pages = [item for item in items if isinstance(item, Mapping) and item.get("mediaType") == "text/html"]
    for item in [*pages, *items]:
        found = web_uri(item.get("href") if isinstance(item, Mapping) else item)
        if found is not None:
            return found
    return None


def image_of(value: Any) -> str | None:
    """The address of a picture: a text, an Image or a Link, or the first of a list of them."""
    value = first(value)
    return link_of(value.get("url") or value.get("href")) if isinstance(value, Mapping) else web_uri(value)


def duration_of(value: Any) -> float | None:
    """The seconds of an ISO 8601 duration, above 0; None for what cannot be read, and beyond MAX_SECONDS."""
    plausible = isinstance(value, str) and len(value) <= 64 and value.startswith("P")
    try:
        found = parse_duration(value) if plausible else None
    except (ValueError, OverflowError):
        return None
    seconds = found.total_seconds() if found is not None else 0.0
    return seconds if 0 < seconds <= MAX_SECONDS else None


def text_of(value: Any, limit: int) -> str:
    """A text, cleaned and cut to `limit` characters; empty for any other value.

    Space around it stays as it was sent: stripped, a post that was stored before would differ, which is an edit.
    """
    value = first(value)
    return clean_input(value[: limit * 2])[:limit] if isinstance(value, str) else ""


def flag_of(value: Any) -> bool:
    """Tell whether a value is true; only the real thing counts."""
    return value is True


def number_of(value: Any, limit: int = 2**31 - 1) -> int | None:
    """A count, 0 and above."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return min(value, limit) if value >= 0 else None


def time_of(value: Any) -> datetime | None:
    """A time, in the past or ahead; None for what cannot be read."""
    try:
        moment = parse_datetime(value) if isinstance(value, str) and len(value) <= 64 else None
        if moment is None:
            return None
        return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def moment_of(value: Any) -> datetime:
    """The time when something was made: now for what cannot be read or lies ahead."""
    now, moment = clock.now(), time_of(value)
    return now if moment is None or moment > now or moment.year < 1970 else moment


def origin_of(uri: str) -> str | None:
    """Host and port behind an http(s) address in their one spelling; None for anything else."""
    try:
        return parse_url(uri).netloc
    except (KernelError, ValueError):
        return None


def same_origin(one: str, other: str) -> bool:
    """Tell whether two ids belong to the same server (security rows 5, 8 and 15)."""
    origin = origin_of(one)
    return origin is not None and origin == origin_of(other)


def without_fragment(uri: str) -> str:
    """The document an id points into."""
    return urldefrag(uri).url
