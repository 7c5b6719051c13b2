"""Rules of copies of remote files: which files are copied, when a file is fetched again, and the addresses of copies."""

from __future__ import annotations

import functools
import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.crypto import salted_hmac

from accounts.copies.models import CopyFailure, CopyPurpose, CopyState, RemoteCopy
from social.kernel import links

_MEBIBYTE: Final = 1024 * 1024
ACCEPTED: Final = (
    "image/*",
    "video/*",
    "audio/*",
    "application/octet-stream",
)
"""The media types in the `Accept` header of requests. A response may have any media type, because the first bytes of
the file decide.
"""


@dataclass(frozen=True)
class Terms:
    """Limits of a purpose: the size in bytes, and the time-out in seconds."""

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
#: A requested copy that has not arrived after this time counts as abandoned and is requested again.
_CLAIM_LIFETIME: Final = timedelta(hours=1)


def pause_after(failure: CopyFailure, attempts: int) -> timedelta:
    """The back-off after `attempts` failed fetches of a file: a minute, doubled each time, a day at most.

    A file that its server does not have, or that cannot be shown here, is retried after a day.
    """
    if failure != CopyFailure.UNREACHABLE:
        return _RETRY_INTERVAL
    return min(_FIRST_PAUSE * (1 << min(attempts - 1, 12)), _RETRY_INTERVAL)


def is_due(copy: RemoteCopy | None, now: datetime) -> bool:
    """Tell whether the file is to be fetched from its server (again)."""
    if copy is None:
        return True
    if copy.state == CopyState.WAITING:
        return copy.requested_at < now - _CLAIM_LIFETIME
    return copy.state == CopyState.FAILED and (copy.retry_at is None or copy.retry_at <= now)


def digest_of(purpose: str, url: str) -> str:
    """The digest by which the copy of the file at `url` for this `purpose` is found."""
    return hashlib.sha256(f"{purpose} {url}".encode("utf-8", "surrogatepass")).hexdigest()


def host_of(url: str) -> str:
    """The host of an address with its port, in lower case; empty if it is invalid."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def proxied_url(path: str, url: str) -> str:
    """The address of a remote file on this server: `path`, without a leading slash, with its key.

    The key proves that this server generated the address for somebody who may see the file, and that the file is still
    the one at `url`.
    """
    return links.web_url(f"/{path}?key={_key(path, url, settings.SECRET_KEY)}")


def is_key_of(key: str, path: str, url: str) -> bool:
    """Tell whether the key belongs to this `path` and the file at `url`."""
    given = key.encode("utf-8", "replace")
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(hmac.compare_digest(given, _key(path, url, secret).encode()) for secret in secrets)


def _key(path: str, url: str, secret: str) -> str:
    return hmac.digest(_secret(secret), f"{path} {url}".encode("utf-8", "surrogatepass"), "sha256").hex()[:24]


@functools.lru_cache(maxsize=4)
def _secret(secret_key: str) -> bytes:
    return salted_hmac("accounts.remote_copies", "", secret=secret_key, algorithm="sha256").digest()
