"""HTTP signatures that most servers send: draft-cavage-http-signatures-12 with rsa-sha256 (contract, federation section 10)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import urlsplit

from federation.reasons import Reason
from federation.signatures import keys
from federation.signatures.message import (
    LIFETIME_SECONDS,
    LONGEST_LIFETIME_SECONDS,
    BadSignature,
    Message,
    WrongKey,
    check_digest,
    check_time,
    sha256_base64,
)

# RFC 7235, section 2.1 and appendix C: a scheme, then a list of parameters, some of which may be empty. The possessive
# quantifiers prevent backtracking, so that no header takes a long time to parse.
_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_SCHEME = re.compile(r"[ \t]*+Signature[ \t]++(?![ \t=])", re.IGNORECASE)
_PARAMETER = re.compile(
    rf'[ \t,]*+({_WORD})[ \t]*+=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"|({_WORD}))[ \t]*+(?:,[ \t,]*+|\Z)', re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ALGORITHMS = ("rsa-sha256", "hs2019")
_TIMES = frozenset({"(created)", "(expires)"})
_UNSIGNED = ("user-agent", "accept-encoding")
_DECIMALS = re.compile(r"(?<=[0-9])\.[0-9]+\Z")
_LONGEST_HEADER = 8192


@dataclass(frozen=True)
class CavageSignature:
    key_id: str
    headers: tuple[str, ...]
    signature: str
    created: datetime | None = None
    expires: datetime | None = None
    times: Mapping[str, str] = field(default_factory=dict)
    """`created` and `expires` exactly as they were sent, because the signature covers that text."""


def parameters_of(header: str) -> dict[str, str]:
    """Return the parameters of a header like `Signature` (RFC 7235), with their names in lower case. Raises BadSignature."""
    if len(header) > _LONGEST_HEADER:
        raise BadSignature(Reason.HEADER_TOO_LONG)
    values: dict[str, str] = {}
    scheme = _SCHEME.match(header)
    position = scheme.end() if scheme is not None else 0
    while position < len(header):
        match = _PARAMETER.match(header, position)
        if match is None or (name := match[1].lower()) in values:
            raise BadSignature(Reason.HEADER_UNREADABLE)
        values[name] = _ESCAPED.sub(r"\1", match[2]) if match[2] is not None else match[3]
        position = match.end()
    return values


def parse(header: str) -> CavageSignature:
    """Parse a `Signature` header. Raises BadSignature when it is malformed."""
    values = parameters_of(header)
    if not values.get("keyid") or not values.get("signature"):
        raise BadSignature(Reason.NO_KEY_ID)
    algorithm = values.get("algorithm", "hs2019").lower()
    if algorithm not in _ALGORITHMS:
        raise BadSignature(Reason.OTHER_ALGORITHM)
    headers = tuple(values.get("headers", "date").lower().split())
    if algorithm == "rsa-sha256" and not _TIMES.isdisjoint(headers):
        # Section 2.3 of the draft: `(created)` and `(expires)` are allowed with hs2019 only.
        raise BadSignature(Reason.CREATED_WITH_RSA)
    return CavageSignature(
        key_id=values["keyid"],
        headers=headers,
        signature=values["signature"],
        created=_unix(values.get("created")),
        expires=_unix(values.get("expires")),
        times={f"({name})": values[name] for name in ("created", "expires") if name in values},
    )


def verify(signature: CavageSignature, message: Message, public_key_pem: str, now: datetime) -> None:
    """Raise BadSignature unless the signature covers all required parts, has not expired, and matches the key and the request.

    The target is accepted in each of the encodings that `message` yields, with and without its query, because some servers sign
    the target without the query.
    """
    _check_cover(signature, message)
    # An unsigned `expires` may have been added on the way; therefore it can shorten the lifetime of the signature (section
    # 2.1.5 of the draft), but not extend it.
    longest = LONGEST_LIFETIME_SECONDS if "(expires)" in signature.headers else LIFETIME_SECONDS
    check_time(_made_at(signature, message), signature.expires, now, longest=longest)
    tried: set[str] = set()
    for target in message.targets():
        for form in (target, target.partition("?")[0]):
            text = _text(signature, message, form)
            if text in tried:
                continue
            tried.add(text)
            try:
                keys.check(public_key_pem, signature.signature, text)
            except WrongKey:
                continue
            return
    raise WrongKey(Reason.SIGNATURE_WRONG)


def _check_cover(signature: CavageSignature, message: Message) -> None:
    covered = set(signature.headers)
    if not covered & {"date", "(created)"}:
        raise BadSignature(Reason.TIME_UNSIGNED)
    if not covered & {"digest", "(request-target)"}:
        raise BadSignature(Reason.NOTHING_SIGNED)
    if message.method != "POST" and not covered >= {"host", "(request-target)"}:
        # GET and HEAD requests must sign the target, because the digest of an empty body does not identify the document.
        raise BadSignature(Reason.TARGET_UNSIGNED)
    if message.method == "POST":
        if "digest" not in covered:
            raise BadSignature(Reason.BODY_UNSIGNED)
        check_digest(_sha256_of(message.header("digest")), message.body)


def _sha256_of(header: str) -> str:
    for part in header.split(","):
        name, _equals, value = part.strip().partition("=")
        if name.lower() == "sha-256":
            return value
    raise BadSignature(Reason.NO_SHA256_DIGEST)


def _made_at(signature: CavageSignature, message: Message) -> datetime:
    if "(created)" in signature.headers:
        if signature.created is None:
            raise BadSignature(Reason.CREATED_MISSING)
        return signature.created
    written = message.header("date")
    try:
        moment = datetime.fromisoformat(written) if written[:4].isdigit() else parsedate_to_datetime(written)
    except (ValueError, OverflowError):
        raise BadSignature(Reason.DATE_UNREADABLE) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _unix(value: str | None) -> datetime | None:
    if value is None:
        return None
    try:
        # The draft allows whole numbers only (section 2.1.4); some senders add decimals, which are cut off.
        return datetime.fromtimestamp(int(_DECIMALS.sub("", value)), UTC)
    except (ValueError, OverflowError, OSError):
        raise BadSignature(Reason.TIME_UNREADABLE) from None


def _text(signature: CavageSignature, message: Message, target: str) -> str:
    lines = []
    for name in signature.headers:
        if name == "(request-target)":
            lines.append(f"{name}: {message.method.lower()} {target}")
        elif name in ("(created)", "(expires)"):
            if name not in signature.times:
                raise BadSignature(Reason.SIGNED_HEADER_MISSING, f"{name} is signed but missing")
            lines.append(f"{name}: {signature.times[name]}")
        else:
            lines.append(f"{name}: {message.header(name)}")
    return "\n".join(lines)


def signed_headers(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    key_id: str,
    private_key_pem: str,
    now: datetime,
) -> dict[str, str]:
    """Return the headers to send: `headers`, Host, Date, Digest if there is a body, and a Signature that covers them."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    own = {"host": parts.netloc.rpartition("@")[2], "date": format_datetime(now.astimezone(UTC), usegmt=True)}
    if body is not None:
        own["digest"] = f"SHA-256={sha256_base64(body)}"
    sent_headers = own | {name.lower(): value for name, value in headers.items()} | own
    covered = (*(name for name in sent_headers if name not in _UNSIGNED), "(request-target)")
    draft = CavageSignature(key_id, covered, "")
    text = _text(draft, Message(method, target, sent_headers, body or b""), target)
    sent_headers["signature"] = (
        f'keyId="{key_id}",algorithm="rsa-sha256",headers="{" ".join(covered)}",'
        f'signature="{keys.sign(private_key_pem, text)}"'
    )
    return sent_headers
