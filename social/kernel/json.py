"""Reads JSON as other software writes it, where a strict reader gives up the whole document for a part of it."""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

JSONDecodeError = orjson.JSONDecodeError

_BOM: Final = b"\xef\xbb\xbf"
# An escape that begins with a backslash of its own is read with it: `\\ud83d` is a backslash and five letters.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_LONE_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def loads(body: bytes | str) -> Any:
    """The value of a JSON text. A byte order mark before it is passed over, and half of a surrogate pair is U+FFFD: JSON
    can name it (RFC 8259, sections 8.1 and 8.2), and no text holds it. Raises JSONDecodeError for what is no JSON.
    """
    raw = (body.encode("utf-8", "surrogatepass") if isinstance(body, str) else bytes(body)).removeprefix(_BOM)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if _LONE_SURROGATE.search(raw) is None:
            raise
    return orjson.loads(_ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], raw))
