"""HTTP signatures according to RFC 9421, limited to the parts that other servers use (contract, federation section 10)."""

import base64
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import http_sf
from http_message_signatures import (
    HTTPMessageSignaturesException,
    HTTPMessageVerifier,
    MappingKeyResolver,
    algorithms,
)

from federation.reasons import Reason
from federation.signatures import keys
from federation.signatures.message import (
    SKEW_SECONDS,
    BadSignature,
    MalformedDigest,
    Message,
    WrongKey,
    check_digest,
    check_time,
)

_LONGEST_HEADER: Final = 8192
_ALGORITHM: Final = "rsa-v1_5-sha256"
_REQUIRED_COMPONENTS: Final = frozenset({"@method", "@target-uri"})


@dataclass(frozen=True)
class MessageSignature:
    """The signature of a message: its key, its time, and the components that it covers. A message with several signatures is
    refused.
    """

    key_id: str
    signature: str
    components: frozenset[str]
    created: datetime
    expires: datetime | None


@dataclass
class _Request:
    method: str
    url: str
    headers: Mapping[str, str]


class _Verifier(HTTPMessageVerifier):
    # `check_time` checks the time window of the contract; the library's own time window must not be narrower.
    max_clock_skew = timedelta(seconds=SKEW_SECONDS)


def parse(message: Message) -> MessageSignature:
    """Parse `Signature-Input` and `Signature`. Raises BadSignature if one of them is malformed."""
    inputs, signatures = message.header("signature-input"), message.header("signature")
    if max(len(inputs), len(signatures)) > _LONGEST_HEADER:
        raise BadSignature(Reason.HEADERS_TOO_LONG)
    try:
        parsed: Any = http_sf.parse(inputs.encode(), tltype="dictionary")
        ((label, (components, parameters)),) = parsed.items()
        raw: Any = http_sf.parse(signatures.encode(), tltype="dictionary")
        signature = base64.b64encode(bytes(raw[label][0])).decode()
        names = frozenset(str(name) for name, item_parameters in components if not item_parameters)
        created, expires = parameters["created"], parameters.get("expires")
        created_at = datetime.fromtimestamp(created, UTC)
        until = datetime.fromtimestamp(expires, UTC) if expires is not None else None
        key_id = parameters["keyid"]
    except Exception:
        # The parser of structured fields raises exceptions of many types.
        raise BadSignature(Reason.HEADERS_UNREADABLE) from None
    if not isinstance(key_id, str) or not key_id:
        raise BadSignature(Reason.NO_KEY_ID_PARAMETER)
    if parameters.get("alg", _ALGORITHM) != _ALGORITHM:
        raise BadSignature(Reason.OTHER_ALGORITHM_9421)
    return MessageSignature(key_id, signature, names, created_at, until)


def verify(signature: MessageSignature, message: Message, base_url: str, public_key_pem: str, now: datetime) -> None:
    """Raise BadSignature unless the signature covers all required parts and has not expired, and WrongKey unless it matches the
    key and the request.

    The signed address is expected to begin with `base_url`, so that a signature for another server fails.
    """
    if not signature.components >= _REQUIRED_COMPONENTS:
        raise BadSignature(Reason.COMPONENTS_UNSIGNED)
    check_time(signature.created, signature.expires, now)
    if message.method == "POST":
        if "content-digest" not in signature.components:
            raise BadSignature(Reason.CONTENT_UNSIGNED)
        check_digest(_sha256_of(message.header("content-digest")), message.body)
    verifier = _Verifier(
        signature_algorithm=algorithms.RSA_V1_5_SHA256,
        key_resolver=MappingKeyResolver(
            public_keys={signature.key_id: keys.public_key(public_key_pem)}, private_keys={}
        ),
    )
    for target in message.targets():
        with contextlib.suppress(HTTPMessageSignaturesException):
            verifier.verify(_Request(message.method, f"{base_url}{target}", message.headers), max_age=None)
            return
    raise WrongKey(Reason.SIGNATURE_WRONG)


def _sha256_of(header: str) -> str:
    try:
        digests: Any = http_sf.parse(header.encode(), tltype="dictionary")
        sha256_values = {name: bytes(value[0]) for name, value in digests.items() if name == "sha-256"}
    except Exception:
        raise MalformedDigest(Reason.CONTENT_DIGEST_UNREADABLE) from None
    if not sha256_values:
        raise BadSignature(Reason.NO_SHA256_CONTENT)
    return base64.b64encode(sha256_values["sha-256"]).decode()
