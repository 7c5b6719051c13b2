"""Reads response bodies of the requested media types, up to a size limit."""

import io
import re
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import IO, Final

from aiohttp import ClientResponse

from social.kernel.http.errors import TooLarge, Unreachable, WrongType

ACTIVITY_TYPES = ("application/activity+json", "application/ld+json")
"""Media types of an ActivityPub document (contract, federation section 1)."""
ACTIVITY_PROFILE = "https://www.w3.org/ns/activitystreams"

_MEDIA_TYPE = re.compile(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:;(.*))?", re.DOTALL)
# A body with more than _TINY_CHUNKS chunks is refused if their average size is below _TINY_BYTES bytes.
_TINY_CHUNKS: Final = 1000
_TINY_BYTES: Final = 32
_PARAMETER = re.compile(r";?\s*([^\s=;\"]+)=\s*(?:\"([^\"]*)\"|([^\s;\"]*))\s*")


def media_type(value: str) -> tuple[str, dict[str, str]]:
    """Return the media type and the parameters of a header, names in lower case: `text/html; charset="x"` -> ("text/html",
    {"charset": "x"}). Of several parameters with one name, the first counts. For an invalid value (RFC 9110 section 8.3.1)
    the media type is empty.
    """
    found = _MEDIA_TYPE.fullmatch(value)
    if found is None:
        return "", {}
    parameters: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(found[2] or ""):
        parameters.setdefault(name.lower(), quoted or plain)
    return found[1].lower(), parameters


def is_acceptable(value: str, accept: Sequence[str]) -> bool:
    """Tell whether a Content-Type is among the types in `accept`; `image/*` stands for every image type.

    `application/ld+json` needs the ActivityStreams profile, because a JSON file that somebody has uploaded to a server must not
    pass for a document of that server (contract, federation section 1, security row 6).
    """
    kind, parameters = media_type(value)
    if not kind:
        return False
    if kind == "application/ld+json" and ACTIVITY_PROFILE not in parameters.get("profile", "").split():
        return False
    family = kind.partition("/")[0]
    return any(media_type(wanted)[0] in (kind, f"{family}/*") for wanted in accept)


def check_type(response: ClientResponse, accept: Sequence[str]) -> None:
    """Raise WrongType unless the response has exactly one Content-Type, which must be acceptable."""
    values = response.headers.getall("Content-Type", [])
    if len(values) != 1 or not is_acceptable(values[0], accept):
        raise WrongType(f"content type {', '.join(values)[:200] or 'missing'} instead of {', '.join(accept)}")


class _Plain:
    def feed(self, chunk: bytes, room: int) -> bytes:
        return chunk[:room]

    def finish(self) -> None:
        """Accept the end of the body at any byte, because aiohttp itself reports a body that is shorter than declared."""


class _Gzip:
    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._started = False

    def feed(self, chunk: bytes, room: int) -> bytes:
        self._started = True
        try:
            plain = self._stream.decompress(chunk, room)
        except zlib.error as error:
            raise Unreachable(f"broken gzip: {error}") from None
        if self._stream.unused_data:
            raise Unreachable("bytes after the end of the gzip stream")
        return plain

    def finish(self) -> None:
        if self._started and not self._stream.eof:
            raise Unreachable("the gzip stream ends early")


def _decoder(response: ClientResponse) -> _Plain | _Gzip:
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    if encoding in ("", "identity"):
        return _Plain()
    if encoding in ("gzip", "x-gzip"):
        return _Gzip()
    raise WrongType(f"content encoding {encoding[:50]!r}")


async def _chunks_of(response: ClientResponse) -> AsyncIterator[bytes]:
    """Yield the chunks of a body, as they arrive. Raises Unreachable if there are very many tiny chunks, because each takes as
    long to process as a large one (security row 83).
    """
    count = received = 0
    async for chunk, _is_whole in response.content.iter_chunks():
        count += 1
        received += len(chunk)
        if count > _TINY_CHUNKS and received < count * _TINY_BYTES:
            raise Unreachable(f"{count} chunks for {received} bytes")
        if chunk:
            yield chunk


async def read_body(response: ClientResponse, limit: int) -> bytes:
    """Return the whole body, decompressed, of at most `limit` bytes. Raises the errors of `write_body`."""
    body = io.BytesIO()
    await write_body(response, limit, body)
    return body.getvalue()


async def write_body(response: ClientResponse, limit: int, file: IO[bytes]) -> None:
    """Write the whole body, decompressed, to a file: at most one byte more than `limit`.

    Raises TooLarge for more than `limit` bytes before or after decompression, WrongType for a content encoding other than
    gzip, and Unreachable for a body that is cut short or broken. Bytes that were already written stay in the file.
    """
    declared = response.content_length
    if declared is not None and declared > limit:
        raise TooLarge(f"{declared} bytes declared, {limit} accepted")
    decoder = _decoder(response)
    received = written = 0
    async for chunk in _chunks_of(response):
        received += len(chunk)
        # One byte more than the limit distinguishes "full" from "too much".
        written += file.write(decoder.feed(chunk, limit - written + 1))
        if received > limit or written > limit:
            raise TooLarge(f"more than {limit} bytes")
    decoder.finish()


async def read_beginning(response: ClientResponse, limit: int) -> bytes:
    """Read at most `limit` bytes of a body, e.g. for a log; return empty bytes for a broken body."""
    try:
        decoder = _decoder(response)
        body = bytearray()
        async for chunk in _chunks_of(response):
            body += decoder.feed(chunk, limit - len(body))
            if len(body) >= limit:
                break
    except Exception:
        return b""
    return bytes(body)
