"""Parsing of structured parameters in all spellings: `a[]=1`, `a[b]=1`, `a[0][b]=1`, `a[][b]=1`, or JSON of any shape.

Source: contract, parameters section 0; security row 34 (limits on depth and number).
"""

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
    """Return the parameters of a query string, which WSGI passes decoded as Latin-1. Raises the errors of `from_form`."""
    return from_form(query.encode("latin-1", "replace")) if query else {}


def from_form(body: bytes) -> dict[str, Any]:
    """Return the parameters of an `application/x-www-form-urlencoded` form.

    Raises BadRequest for invalid UTF-8 or too many parameters.
    """
    return nest(pairs(decode(body)))


def decode(sent: bytes) -> str:
    """Decode UTF-8. Raises BadRequest (400) for invalid UTF-8, because the stored text must not differ from the sent text."""
    try:
        return sent.decode()
    except UnicodeDecodeError:
        raise errors.BadRequest from None


def pairs(encoded: str) -> list[tuple[str, str]]:
    """Return the names and values of `application/x-www-form-urlencoded`, in order. Raises BadRequest for invalid UTF-8."""
    if encoded.count("&") >= MAX_KEYS:
        raise errors.BadRequest
    # The same result as `urllib.parse.parse_qsl`, which takes eight times as long for twenty ids, because it unquotes every
    # part.
    found = [part.partition("=") for part in encoded.split("&") if part]
    try:
        return [(_unquoted(name), _unquoted(value).replace("\0", "")) for name, _, value in found]
    except UnicodeDecodeError:
        raise errors.BadRequest from None


def _unquoted(text: str) -> str:
    return unquote_plus(text, errors="strict") if "%" in text or "+" in text else text


def nest(names_and_values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return the nested structure that the names describe. A later value replaces an earlier one of the same name.

    `a[]` appends; `a[][b]` fills the last object of the list until it has a `b`; `a[0][b]` makes an object with index keys
    (`inputs` reads it as a list). Raises BadRequest (400) for a name that is nested too deeply, or is used both as a list and
    as an object.
    """
    nested: dict[str, Any] = {}
    for name, value in names_and_values:
        if "[" not in name:
            nested[name] = value
            continue
        if name.endswith("[]") and name.count("[") == name.count("]") == 1 and len(name) > 2:
            # The most frequent form, `a[]`, is recognised without the slower regular expressions below.
            _put_value(nested, name[:-2], [""], value)
            continue
        matched = _NAME.match(name)
        if matched is None:
            nested[name] = value
            continue
        segments = _SEGMENTS.findall(matched[2])
        if len(segments) > MAX_DEPTH:
            raise errors.BadRequest
        _put_value(nested, matched[1], segments, value)
    return nested


def clean(value: Any) -> Any:
    """Remove NUL characters, which no text column can store, from JSON. Raises BadRequest (400) if the JSON is too large or too
    deep.
    """
    return _clean(value, 0, [MAX_VALUES])


def _put_value(container: dict[str, Any], key: str, segments: list[str], value: Any) -> None:
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
            raise errors.BadRequest  # a list of lists: no endpoint takes one
        last = items[-1] if items else None
        if not isinstance(last, dict) or _has_path(last, segments[index + 1 :]):
            last = {}
            items.append(last)
        _put_value(last, following, segments[index + 2 :], value)
        return
    container[key] = value


def _has_path(item: dict[str, Any], path: list[str]) -> bool:
    current: Any = item
    for step in path:
        if not step:
            return False  # `a[][b][]`: the value is appended to the list of this object
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
