"""Rules for copies of remote files (limits, retries, addresses, refusals), and for hash lists (values, similar hashes)."""

import functools
import hashlib
import hmac
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import IO, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.copies.models import DISTANCE_LIMIT, CopyFailure, CopyPurpose, CopyState, HashKind, ListedAct, RemoteCopy
from social.kernel import links
from social.kernel.errors import FieldError
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, URI_LIMIT
from social.kernel.reasons import Reason

_MEBIBYTE: Final = 1024 * 1024
ACCEPTED: Final = (
    "image/*",
    "video/*",
    "audio/*",
    "application/octet-stream",
)
"""Media types in the `Accept` header of requests. Responses of any media type are accepted, because the first bytes of the file
determine its type."""


@dataclass(frozen=True)
class Terms:
    """Limits for a purpose: the size in bytes, and the time-out in seconds."""

    max_bytes: int
    seconds: float


TERMS: Final = {
    CopyPurpose.ATTACHMENT: Terms(99 * _MEBIBYTE, 45.0),
    CopyPurpose.COVER: Terms(16 * _MEBIBYTE, 20.0),
    CopyPurpose.AVATAR: Terms(8 * _MEBIBYTE, 15.0),
    CopyPurpose.HEADER: Terms(8 * _MEBIBYTE, 15.0),
    # Contract, federation section 16.
    CopyPurpose.EMOJI: Terms(256 * 1024, 10.0),
}
EMOJI_TYPES: Final = ("image/png", "image/gif", "image/webp", "image/avif")
"""The media types of custom emojis (contract, federation section 16), and AVIF, which other servers use."""
PICTURE_BYTES: Final = 16 * _MEBIBYTE
"""Size limit of a picture in bytes, as for uploads (contract, behaviours section 10)."""

_RETRY_INTERVAL: Final = timedelta(days=1)
_FIRST_PAUSE: Final = timedelta(minutes=1)
#: A requested copy that has not arrived after this time is requested again.
_CLAIM_LIFETIME: Final = timedelta(hours=1)


def pause_after(failure: CopyFailure, attempts: int) -> timedelta:
    """Return the back-off after `attempts` failed fetches: a minute, doubled each time, at most a day."""
    if failure != CopyFailure.UNREACHABLE:
        return _RETRY_INTERVAL
    return min(_FIRST_PAUSE * (1 << min(attempts - 1, 12)), _RETRY_INTERVAL)


def is_due(copy: RemoteCopy | None, now: datetime) -> bool:
    """Tell whether the file should now be fetched from its server, possibly again."""
    if copy is None:
        return True
    if copy.state == CopyState.WAITING:
        return copy.requested_at < now - _CLAIM_LIFETIME
    return copy.state == CopyState.FAILED and (copy.retry_at is None or copy.retry_at <= now)


def digest_of(purpose: str, url: str) -> str:
    """Return the digest that identifies the copy of the file at `url` for this `purpose`."""
    return hashlib.sha256(f"{purpose} {url}".encode("utf-8", "surrogatepass")).hexdigest()


def host_of(url: str) -> str:
    """Return the host of an address with its port, in lower case; empty if it is invalid."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def proxied_url(path: str, url: str) -> str:
    """Return this server's address for a remote file: `path`, and a key that proves that this server generated the address."""
    return links.web_url(f"/{path}?key={_key(path, url, settings.SECRET_KEY)}")


def is_key_of(key: str, path: str, url: str) -> bool:
    """Tell whether the key belongs to this `path` and the file at `url`."""
    sent_key = key.encode("utf-8", "replace")
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(hmac.compare_digest(sent_key, _key(path, url, secret).encode()) for secret in secrets)


def _key(path: str, url: str, secret: str) -> str:
    return hmac.digest(_secret(secret), f"{path} {url}".encode("utf-8", "surrogatepass"), "sha256").hex()[:24]


@functools.lru_cache(maxsize=4)
def _secret(secret_key: str) -> bytes:
    return salted_hmac("accounts.remote_copies", "", secret=secret_key, algorithm="sha256").digest()


LISTS_LIMIT: Final = 50
"""Maximum number of hash lists on a server, enabled or not."""

HASHES_LIMIT: Final = {HashKind.SHA256: 1_000_000, HashKind.PDQ: 250_000}
"""Maximum number of hashes on a list, by kind of hash."""

LINES_LIMIT: Final = 2_000_000
"""Maximum number of lines that are read from one file."""

#: Longer lines are truncated, because a hash has only 64 digits.
_LINE_LIMIT: Final = 1000
_COLUMNS: Final = frozenset({"hash", "value", "sha256", "sha-256", "pdq", "pdq_hash"})
_SEPARATOR: Final = re.compile(r"[,;\t]|\s+")
_HASH: Final = re.compile(r"(?:sha256:|pdq:)?([0-9a-f]{64})")
_FLIPS: Final = (0, *(1 << bit for bit in range(16)))


@dataclass(frozen=True)
class HashListDraft:
    name: str
    kind: str
    source: str = ""
    note: str = ""
    act: str = ListedAct.QUARANTINE
    distance: int = DISTANCE_LIMIT


def list_errors(draft: HashListDraft) -> list[FieldError]:
    errors = []
    if not draft.name.strip():
        errors.append(FieldError.blank("name"))
    for field, limit in (("name", NAME_LIMIT), ("source", URI_LIMIT), ("note", MESSAGE_LIMIT)):
        if len(getattr(draft, field)) > limit:
            errors.append(FieldError.too_long(field, limit))
    for field, choices in (("kind", HashKind), ("act", ListedAct)):
        if getattr(draft, field) not in choices.values:
            errors.append(FieldError.not_included(field))
    if not 0 <= draft.distance <= DISTANCE_LIMIT:
        message = _("must be between 0 and %(count)d") % {"count": DISTANCE_LIMIT}
        errors.append(FieldError("distance", "ERR_INVALID", message))
    return errors


def words_of(value: bytes) -> list[int]:
    """Return the 16 words (of 16 bits) of a PDQ hash as numbers; the higher bits of a number are the word's position."""
    return [place << 16 | word for place, word in enumerate(struct.unpack(">16H", value))]


def near_words(value: bytes) -> list[int]:
    """Return the words of a PDQ hash, and all words that differ from one of them in one bit.

    Every hash within DISTANCE_LIMIT has one of these words, because the distance would be greater if each word differed in two
    bits.
    """
    return [word ^ flip for word in words_of(value) for flip in _FLIPS]


def read_hashes(file: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    """Yield the number and the hash (None if invalid) of each line of a file, skipping empty lines and comments (`#`).

    A hash has 64 hexadecimal digits. The hash is the first value of a line, or the value in the column `hash`, `sha256` or
    `pdq` if the file names its columns.
    """
    column, number, is_first = 0, 0, True
    while line := file.readline(_LINE_LIMIT):
        number += 1
        rest = line
        while len(rest) == _LINE_LIMIT and not rest.endswith(b"\n"):
            rest = file.readline(_LINE_LIMIT)
        text = line.removeprefix(b"\xef\xbb\xbf").decode("latin-1").strip().lower()
        if not text or text.startswith("#"):
            continue
        values = [value.strip(" \"'") for value in _SEPARATOR.split(text)]
        # Comments may precede the line with the names of the columns.
        columns, is_first = _COLUMNS.intersection(values) if is_first else (), False
        if columns:
            column = next(place for place, value in enumerate(values) if value in columns)
            continue
        match = _HASH.fullmatch(values[column]) if column < len(values) else None
        yield number, bytes.fromhex(match[1]) if match is not None else None


class FileReason(Reason):
    """Reasons not to store and show a fetched file (reasons why fetching fails: `social.kernel.http.errors.FetchReason`)."""

    FILE_MISSING = "its server does not give the file", "HTTP status other than 200: there is nothing to show"
    FILE_NOT_SHOWN = (
        "the file is of a kind or size that is not shown",
        "security rows 1, 41 and 56: types that are decoded here, within bounds; others are links to their server",
        "SVG, EPS and TIFF pictures, documents, archives, very long videos",
    )
    FILE_UNREADABLE = "the file cannot be decoded", "security row 1: only what was decoded is shown", "cut downloads"
    FILE_QUARANTINED = "the file is in quarantine", "the scanner that the operator has set"
    FILE_LISTED = "the file is on a hash list", "files that staff do not want (adr/0045)"
    FILE_NOT_SCANNED = "the scanner did not answer", "the scanner that the operator has set: nothing is shown unseen"
