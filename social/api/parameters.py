"""Structured parameters in the spellings of clients: `a[]=1`, `a[b]=1`, `a[0][b]=1`, `a[][b]=1`, or JSON of any shape.

Source: contract, parameters section 0; security row 34 (caps on depth and number).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote_plus

from social.kernel import errors

MAX_DEPTH: Final = 32
MAX_KEYS: Final = 2000
MAX_VALUES: Final = 10_000

_SEGMENTS = re.compile(r"\[([^\[\]]*)\]")
_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)\Z")


def from_query(query: str) -> dict[str, Any]:
    """Parameters of a query string as the server gave it (bytes read as Latin-1).

    Raises BadRequest beyond a cap and for what is no UTF-8.
    """
    return from_form(query.encode("latin-1", "replace")) if query else {}


def from_form(body: bytes) -> dict[str, Any]:
    """Parameters of a form, `application/x-www-form-urlencoded`. Raises BadRequest beyond a cap and for what is no UTF-8."""
    return nest(pairs(decode(body)))


def decode(sent: bytes) -> str:
    """Text as it was sent. Raises BadRequest (400) for what is no UTF-8: what is written must not differ from it."""
    try:
        return sent.decode()
    except UnicodeDecodeError:
        raise errors.BadRequest from None


def pairs(encoded: str) -> list[tuple[str, str]]:
    """Names and values of `application/x-www-form-urlencoded`, in order. Raises BadRequest for what is no UTF-8."""
    if encoded.count("&") >= MAX_KEYS:
        raise errors.BadRequest
    # `urllib.parse.parse_qsl` finds the same. Of twenty ids it unquotes each name and each value, in eight times the time.
    found = [part.partition("=") for part in encoded.split("&") if part]
    try:
        return [(_unquoted(name), _unquoted(value).replace("\0", "")) for name, _, value in found]
    except UnicodeDecodeError:
        raise errors.BadRequest from None


def _unquoted(text: str) -> str:
    return unquote_plus(text, errors="strict") if "%" in text or "+" in text else text


def nest(names_and_values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """The structure that the names describe. A later value replaces an earlier one of the same name.

    `a[]` appends; `a[][b]` fills the last object of the list until it has a `b`; `a[0][b]` makes an object with index
    keys (`inputs` reads it as a list). Raises BadRequest (400) for too deep a name or one thing used as two.
    """
    nested: dict[str, Any] = {}
    for name, value in names_and_values:
        if "[" not in name:
            nested[name] = value
            continue
        if name.endswith("[]") and name.count("[") == name.count("]") == 1 and len(name) > 2:
            # The usual list, found without the expressions below.
            _place(nested, name[:-2], [""], value)
            continue
        matched = _NAME.match(name)
        if matched is None:
            nested[name] = value
            continue
        segments = _SEGMENTS.findall(matched[2])
        if len(segments) > MAX_DEPTH:
            raise errors.BadRequest
        _place(nested, matched[1], segments, value)
    return nested


def clean(value: Any) -> Any:
    """Decoded JSON without NUL characters, which no text column can hold. Raises BadRequest (400) beyond a cap."""
    return _clean(value, 0, [MAX_VALUES])


def _place(container: dict[str, Any], key: str, segments: list[str], value: Any) -> None:
    for index, segment in enumerate(segments):
        if segment:
            inner = container.setdefault(key, {})
            if not isinstance(inner, dict):
                raise errors.BadRequest
            container, key = inner, segment
            continue
        items = container.setdefault(key, [])
        if not isinstance(items, list):
            raise errors.BadRequest
        if index == len(segments) - 1:
            items.append(value)
            return
        following = segments[index + 1]
        if not following:
            raise errors.BadRequest  # a list of lists: no endpoint has one
        last = items[-1] if items else None
        if not isinstance(last, dict) or _has(last, segments[index + 1 :]):
            last = {}
            items.append(last)
        # The next round enters `following` of this object.
        _place(last, following, segments[index + 2 :], value)
        return
    container[key] = value


def _has(item: dict[str, Any], path: list[str]) -> bool:
    current: Any = item
    for step in path:
        if not step:
            return False  # `a[][b][]`: the list of this object goes on
        if not isinstance(current, dict) or step not in current:
            return False
        current = current[step]
    return True


def _clean(value: Any, depth: int, left: list[int]) -> Any:
    left[0] -= 1
    if depth > MAX_DEPTH or left[0] < 0:
        raise errors.BadRequest
    if isinstance(value, str):
        return value.replace("\0", "") if "\0" in value else value
    if isinstance(value, dict):
        return {_clean(key, depth, left): _clean(item, depth + 1, left) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1, left) for item in value]
    return value
