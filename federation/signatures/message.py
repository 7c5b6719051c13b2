"""An HTTP request as it is signed and verified, and the errors of signatures."""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from federation.reasons import Reason, Refused

# Contract, federation section 10 "Time": a signature is valid for 5 minutes unless it states another time; an hour of clock
# skew is allowed either way.
LIFETIME_SECONDS = 300
LONGEST_LIFETIME_SECONDS = 12 * 3600
SKEW_SECONDS = 3600

#: Characters that a sender may have left unencoded in a path, in addition to letters, digits, "-", "_" and "." (RFC 3986
#: 3.3).
_UNENCODED: Final = ("/:@!$&'()*+,;=~", "/~", "/")
_ENCODED: Final = re.compile("%[0-9A-F]{2}")


class BadSignature(Refused):
    """Refusal (401) of a missing, malformed, expired or incomplete signature (contract, federation section 10)."""


class WrongKey(BadSignature):
    """A signature that was not made for this request with this key; another key might verify it."""


class MalformedDigest(BadSignature):
    """Refusal (400) of a malformed `Content-Digest`."""


@dataclass(frozen=True)
class Message:
    """A request: header names are in lower case; `target` is the path in one of its encodings, with the query as it was sent.
    `source` is the client's address in the form in which it is rate-limited, or empty.
    """

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    source: str = ""

    def targets(self) -> Iterator[str]:
        """Yield `target`, and the other encodings of its path that a sender may have signed, because the web server decodes
        paths.
        """
        path, mark, query = self.target.partition("?")
        decoded = unquote_to_bytes(path)
        paths = {path: None}
        for unencoded in _UNENCODED:
            encoded = quote(decoded, unencoded)
            encoded = encoded if "~" in unencoded else encoded.replace("~", "%7E")
            paths |= {encoded: None, _ENCODED.sub(lambda match: match[0].lower(), encoded): None}
        for encoded in paths:
            yield f"{encoded}{mark}{query}"
        if not mark:
            yield f"{path}?"

    def header(self, name: str) -> str:
        """Return the value of a signed header. Raises BadSignature if the header is missing."""
        try:
            return self.headers[name]
        except KeyError:
            raise BadSignature(Reason.SIGNED_HEADER_MISSING, f"the signed header {name} is missing") from None


def check_time(
    created: datetime, expires: datetime | None, now: datetime, *, longest: int = LONGEST_LIFETIME_SECONDS
) -> None:
    """Raise BadSignature if `now` is outside the time window of the contract. With `expires` the window is at most `longest`
    seconds long, plus the clock skew.
    """
    age = (now - created).total_seconds()
    if age < -SKEW_SECONDS:
        raise BadSignature(Reason.SIGNED_IN_THE_FUTURE)
    lifetime: float = LIFETIME_SECONDS
    if expires is not None:
        lifetime = min((expires - created).total_seconds(), longest)
    if age > lifetime + SKEW_SECONDS:
        raise BadSignature(Reason.SIGNATURE_EXPIRED)


def sha256_base64(body: bytes) -> str:
    """Return the digest of a body in the form that both digest headers use."""
    return base64.b64encode(hashlib.sha256(body).digest()).decode()


def check_digest(header_value: str, body: bytes) -> None:
    """Raise BadSignature unless `header_value`, the base64 SHA-256 in a header, is the digest of the body."""
    try:
        digest = base64.b64decode(header_value, validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature(Reason.DIGEST_UNREADABLE) from None
    if not hmac.compare_digest(digest, hashlib.sha256(body).digest()):
        raise BadSignature(Reason.OTHER_BODY)
