"""Which files of other servers are copied, how soon one is asked for again, and what the addresses of copies look like."""

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

from accounts.models.remote_copy import CopyFailure, CopyPurpose, CopyState, RemoteCopy
from social.kernel import links

_MEBIBYTE: Final = 1024 * 1024
ACCEPTED: Final = (
    "image/*",
    "video/*",
    "audio/*",
    "application/ogg",
    "application/octet-stream",
    "binary/octet-stream",
)
"""The content types under which another server may send a file; its first bytes decide what it is."""


@dataclass(frozen=True)
class Terms:
    """How many bytes are taken for a purpose, and in how many seconds."""

    max_bytes: int
    seconds: float


TERMS: Final = {
    CopyPurpose.ATTACHMENT: Terms(99 * _MEBIBYTE, 45.0),
    CopyPurpose.COVER: Terms(16 * _MEBIBYTE, 20.0),
    CopyPurpose.AVATAR: Terms(8 * _MEBIBYTE, 15.0),
    CopyPurpose.HEADER: Terms(8 * _MEBIBYTE, 15.0),
}
PICTURE_BYTES: Final = 16 * _MEBIBYTE
"""The largest picture, as for uploads (contract, behaviours section 10)."""

_ONE_DAY: Final = timedelta(days=1)
_FIRST_PAUSE: Final = timedelta(minutes=1)
#: A request for a copy that nobody has answered for so long is made again: its outbox row was discarded.
_LOST: Final = timedelta(hours=1)


def pause_after(failure: CopyFailure, attempts: int) -> timedelta:
    """How long a file is not asked for after its so many-th failure: a minute, doubled each time, a day at most.

    What its server does not have, and what is not shown here, is asked for again after a day.
    """
    if failure != CopyFailure.UNREACHABLE:
        return _ONE_DAY
    return min(_FIRST_PAUSE * (1 << min(attempts - 1, 12)), _ONE_DAY)


def is_due(copy: RemoteCopy | None, now: datetime) -> bool:
    """Whether the file is to be asked of its server (again)."""
    if copy is None:
        return True
    if copy.state == CopyState.WAITING:
        return copy.requested_at < now - _LOST
    return copy.state == CopyState.FAILED and (copy.retry_at is None or copy.retry_at <= now)


def digest_of(purpose: str, url: str) -> str:
    """What a copy is found by."""
    return hashlib.sha256(f"{purpose} {url}".encode("utf-8", "surrogatepass")).hexdigest()


def host_of(url: str) -> str:
    """The host of an address with its port, in lower case; empty for what is no address."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


def proxied_url(path: str, url: str) -> str:
    """Where the file of another server is shown by this one: `path` without a slash in front, with its key.

    The key shows that this server has written the address for somebody who may see the file, and that the file is still
    the one at `url`.
    """
    return links.web_url(f"/{path}?key={_key(path, url)}")


def is_key_of(key: str, path: str, url: str) -> bool:
    """Whether the key belongs to path and file."""
    return hmac.compare_digest(key.encode("utf-8", "replace"), _key(path, url).encode())


def _key(path: str, url: str) -> str:
    return hmac.digest(_secret(settings.SECRET_KEY), f"{path} {url}".encode("utf-8", "surrogatepass"), "sha256").hex()[
        :24
    ]


@functools.lru_cache(maxsize=4)
def _secret(secret_key: str) -> bytes:
    return salted_hmac("accounts.remote_copies", "", secret=secret_key, algorithm="sha256").digest()
