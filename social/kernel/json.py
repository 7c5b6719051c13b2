"""Reads JSON from other software, tolerating faults for which a strict parser would refuse the whole document."""

import re
from typing import Any, Final

import orjson

JSONDecodeError = orjson.JSONDecodeError

_BOM: Final = b"\xef\xbb\xbf"
# An escaped backslash is matched as a whole: `\\ud83d` is a backslash and five letters.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
_LONE_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


def loads(body: bytes | str) -> Any:
    """Return the value of a JSON text. A byte order mark before the text is skipped. Half of a surrogate pair becomes U+FFFD,
    because JSON can express such a half (RFC 8259, sections 8.1 and 8.2), but no text can contain it. Raises JSONDecodeError
    for invalid JSON.
    """
    raw = (body.encode("utf-8", "surrogatepass") if isinstance(body, str) else bytes(body)).removeprefix(_BOM)
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        if _LONE_SURROGATE.search(raw) is None:
            raise
    return orjson.loads(_ESCAPE.sub(lambda found: b"\\ufffd" if found[1] else found[0], raw))
