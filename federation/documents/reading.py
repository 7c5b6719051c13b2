"""Reads JSON that may be hostile: limits its size and depth, and accepts values of any type (contract, federation sections 5
and 16; security row 34).
"""

import re
from collections.abc import Container, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, urldefrag

from django.utils.dateparse import parse_datetime, parse_duration

from federation.reasons import Reason, Rejected
from social.kernel import clock, json
from social.kernel.errors import KernelError
from social.kernel.http.addresses import parse_url
from social.kernel.reasons import leave_out
from social.kernel.text.names import clean_input

D = TypeVar("D", bound=bool | None)
T = TypeVar("T")

_NAMESPACE: Final = re.compile(r"\A(?:as:|https?://www\.w3\.org/ns/activitystreams#)")
MAX_BYTES: Final = 1 << 20
MAX_DEPTH: Final = 32
MAX_ITEMS: Final = 1_000
MAX_SECONDS: Final = 1_000_000
MAX_COUNT: Final = 2_000_000_000
"""Largest count that is read. Clients refuse a page with a count of more than 31 bits (tuskyapp/Tusky#2802), and what happens
here is added to the count.
"""
MAX_URI: Final = 1_300
"""Maximum size of an id in bytes, because two ids must fit into an index entry."""


def parse(body: bytes) -> dict[str, Any]:
    """Return the JSON object in `body`, within limits. Raises Rejected if `body` contains no JSON object."""
    document = parse_json(body)
    if not isinstance(document, dict):
        raise Rejected(Reason.NO_JSON_OBJECT)
    return document


def parse_json(body: bytes) -> Any:
    """Return the JSON value in `body`. Raises Rejected for invalid JSON, and for JSON that exceeds the limits above."""
    if len(body) > MAX_BYTES:
        raise Rejected(Reason.TOO_LARGE)
    try:
        document = json.loads(body)
    except json.JSONDecodeError:
        raise Rejected(Reason.NO_JSON) from None
    if isinstance(document, dict | list):
        _check_bounds(document)
    return document


def _check_bounds(document: Any) -> None:
    # The check goes level by level instead of using recursion, because the sender chooses the depth.
    level = [document]
    for _depth in range(MAX_DEPTH):
        below: list[Any] = []
        for item in level:
            children = item.values() if isinstance(item, dict) else item
            if len(item) > MAX_ITEMS:
                raise Rejected(Reason.TOO_MANY_PARTS)
            below += [child for child in children if isinstance(child, dict | list)]
        if not below:
            return
        level = below
    raise Rejected(Reason.TOO_DEEP)


def first(value: Any) -> Any:
    """Return the value, or the first of a list of values; None for an empty list."""
    if isinstance(value, list):
        return value[0] if value else None
    return value


def many(value: Any) -> list[Any]:
    """Return the values as a list: a single value as a list of one, None as an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def at_most(items: list[T], limit: int, reason: Reason) -> list[T]:
    """Return the first `limit` items; the others are counted as left out for `reason`."""
    leave_out(reason, len(items) - limit)
    return items[:limit]


def readable(items: list[T | None], reason: Reason) -> list[T]:
    """Return the items that are not None; the others, which could not be read, are counted as left out for `reason`."""
    readable_items = [item for item in items if item is not None]
    leave_out(reason, len(items) - len(readable_items))
    return readable_items


def kinds_of(document: Mapping[str, Any]) -> list[str]:
    """Return those types of an object that are strings, without the namespace of ActivityStreams."""
    return [_NAMESPACE.sub("", kind) for kind in many(document.get("type")) if isinstance(kind, str)]


def kind_of(document: Mapping[str, Any], known_types: Container[str]) -> str | None:
    """Return the first type of an object that is in `known_types`, or None."""
    return next((kind for kind in kinds_of(document) if kind in known_types), None)


def of_kind(value: Any, kind: str) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a value, or in a list of values, that have the type `kind`, possibly among other types."""
    return (item for item in many(value) if isinstance(item, Mapping) and kind in kinds_of(item))


def uri_of(value: Any) -> str | None:
    """Return the id of an object that is embedded, named by its id or by a Link, or named by a bearcap (`bear:?u=...&t=...`).
    None if there is no id that can be stored.
    """
    value = first(value)
    if isinstance(value, Mapping):
        value = value.get("id" if "id" in value else "href")
    if isinstance(value, str) and value.startswith("bear:"):
        value = first(parse_qs(value[: 4 * MAX_URI].partition("?")[2]).get("u"))
    if not isinstance(value, str) or not value or len(value.encode("utf-8", "replace")) > MAX_URI or "\0" in value:
        return None
    return value


def uris_of(value: Any, limit: int = MAX_ITEMS) -> list[str]:
    """Return the ids of the objects in a list, or of a single object."""
    uris = (uri_of(item) for item in many(value)[:limit])
    return [uri for uri in uris if uri is not None]


def web_uri(value: Any) -> str | None:
    """Return an http(s) address as it was written; None for any other value."""
    uri = uri_of(value)
    return uri if uri is not None and origin_of(uri) is not None else None


def link_of(value: Any) -> str | None:
    """Return the address in a `url`, which may be a string, a Link, or a list of these; a link to an HTML page is preferred."""
    items = many(value)
    pages = [
        item for item in items if isinstance(item, Mapping) and media_type_of(item.get("mediaType")) == "text/html"
    ]
    for item in [*pages, *items]:
        address = web_uri(item.get("href") if isinstance(item, Mapping) else item)
        if address is not None:
            return address
    return None


def media_type_of(value: Any) -> str:
    """Return a media type in lower case, without parameters; empty if it is invalid."""
    media_type = text_of(value, 200).partition(";")[0].strip().lower()[:100]
    family, slash, name = media_type.partition("/")
    return media_type if family and slash and name else ""


def duration_of(value: Any) -> float | None:
    """Return an ISO 8601 duration in seconds; None if the duration cannot be read, is not positive or exceeds MAX_SECONDS."""
    plausible = isinstance(value, str) and len(value) <= 64 and value.startswith("P")
    try:
        duration = parse_duration(value) if plausible else None
    except (ValueError, OverflowError):
        return None
    seconds = duration.total_seconds() if duration is not None else 0.0
    return seconds if 0 < seconds <= MAX_SECONDS else None


def text_of(value: Any, limit: int) -> str:
    """Return a text, cleaned and cut to `limit` characters; empty for any other value. Surrounding white space stays, so that a
    stored post does not seem to be edited.
    """
    value = first(value)
    if not isinstance(value, str):
        return ""
    leave_out(Reason.TEXT_CUT, len(value) > limit)
    return clean_input(value[: limit * 2])[:limit]


def text_member(document: Mapping[str, Any], name: str, limit: int) -> str:
    """Return a text member of a document, or else the first of its translations (`...Map`) that is a text."""
    return text_of(document.get(name), limit) or next(iter(translations(document, name, limit).values()), "")


def translations(document: Mapping[str, Any], name: str, limit: int) -> dict[str, str]:
    """Return the translations of a text member by language code, skipping translations that are empty or not strings."""
    by_language = document.get(f"{name}Map")
    texts = by_language.items() if isinstance(by_language, Mapping) else ()
    return {code: cleaned for code, text in texts if (cleaned := text_of(text, limit))}


def flag_of(value: Any, default: bool | D = False) -> bool | D:
    """Return True for `true`, `"true"` or 1, False for `false`, `"false"` or 0, and `default` for any other value."""
    if isinstance(value, str):
        value = {"true": 1, "false": 0}.get(value.strip().lower())
    return bool(value) if value in (0, 1) else default


def number_of(value: Any, limit: int = MAX_COUNT) -> int | None:
    """Return a count of 0 or more, at most `limit`; None if the value is not such a number."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return min(value, limit) if value >= 0 else None


def time_of(value: Any) -> datetime | None:
    """Return a time in the format of RFC 3339 (in upper or lower case, even with "UTC" at the end) or RFC 2822; None if the
    time cannot be read.
    """
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        moment = parse_datetime(value.strip().upper().removesuffix(" UTC")) or parsedate_to_datetime(value)
        return moment.astimezone(UTC) if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def past_of(value: Any) -> datetime | None:
    """Return the time of an action: now for a future time, None for a time that cannot be read or is before 1970."""
    now, moment = clock.now(), time_of(value)
    return min(moment, now) if moment is not None and moment.year >= 1970 else None


def moment_of(value: Any) -> datetime:
    """Return the creation time of an object: now if the time cannot be read, is in the future, or is before 1970."""
    moment = past_of(value)
    if moment is None and value is not None:
        leave_out(Reason.UNREADABLE_DATE)
    return moment or clock.now()


def origin_of(uri: str) -> str | None:
    """Return the host and port of an http(s) address in canonical spelling; None for any other text."""
    try:
        return parse_url(uri).netloc
    except (KernelError, ValueError):
        return None


def same_origin(one: str, other: str) -> bool:
    """Tell whether two ids belong to the same server (security rows 5, 8 and 15)."""
    origin = origin_of(one)
    return origin is not None and origin == origin_of(other)


def without_fragment(uri: str) -> str:
    """Return the address of the document that contains the object with this id."""
    return urldefrag(uri).url
