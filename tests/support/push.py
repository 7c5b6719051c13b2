"""Devices that subscribe to Web Push, and their push service: a web server on a loopback address.

A device decrypts as RFC 8291, RFC 8188 and the draft `aesgcm` say, with its own P-256 arithmetic and the HMAC of the standard
library, so that it shares no code with the encryption.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

import orjson
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM

from tests.support.site import answering, listening

# P-256 (SEC 2 section 2.4.2): y^2 = x^3 - 3x + b modulo p.
_P: Final = 2**256 - 2**224 + 2**192 + 2**96 - 1
_B: Final = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G: Final = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_Point = tuple[int, int] | None


def unbase64(text: str) -> bytes:
    """Return the bytes of URL-safe Base64."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def base64_of(raw: bytes) -> str:
    """Return URL-safe Base64 without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _add(one: _Point, other: _Point) -> _Point:
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if (one[1] + other[1]) % _P == 0:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, _P)
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _P)
    x = (slope * slope - one[0] - other[0]) % _P
    return x, (slope * (one[0] - x) - one[1]) % _P


def _times(number: int, point: _Point) -> tuple[int, int]:
    found: _Point = None
    while number:
        if number & 1:
            found = _add(found, point)
        point, number = _add(point, point), number >> 1
    assert found is not None
    return found


def _written(point: tuple[int, int]) -> bytes:
    return b"\x04" + point[0].to_bytes(32, "big") + point[1].to_bytes(32, "big")


def _read(raw: bytes) -> tuple[int, int]:
    assert len(raw) == 65, raw
    assert raw[0] == 4, raw
    x, y = int.from_bytes(raw[1:33], "big"), int.from_bytes(raw[33:], "big")
    assert (y * y - x * x * x + 3 * x - _B) % _P == 0, "the point is not on the curve"
    return x, y


def _derive(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    """Return the output of HKDF with one block (RFC 5869)."""
    pseudorandom = hmac.digest(salt, secret, hashlib.sha256)
    return hmac.digest(pseudorandom, info + b"\x01", hashlib.sha256)[:length]


def _open(key: bytes, nonce: bytes, sealed: bytes) -> bytes:
    reader = Cipher(AES(key), GCM(nonce, sealed[-16:])).decryptor()
    return reader.update(sealed[:-16]) + reader.finalize()


def _parameters(header: str) -> dict[str, str]:
    """Return `a=b;c=d` as a dictionary."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return {name: value.strip('"') for name, _equals, value in pairs}


@dataclass(frozen=True)
class Received:
    """A request to the push service."""

    path: str
    headers: Message
    body: bytes


@dataclass(frozen=True)
class Device:
    """A device whose keys are derived from `number`, so that they are the same in every run."""

    number: int
    auth: bytes = b"sixteen bytes..."

    @property
    def public_key(self) -> bytes:
        return _written(_times(self.number, _G))

    @property
    def keys(self) -> dict[str, str]:
        """Return the keys as a client sends them."""
        return {"p256dh": base64_of(self.public_key), "auth": base64_of(self.auth)}

    def _shared(self, sender_key: bytes) -> bytes:
        return _times(self.number, _read(sender_key))[0].to_bytes(32, "big")

    def open(self, headers: Mapping[str, Any] | Message, body: bytes) -> bytes:
        """Decrypt a body according to the encoding that its headers name; fail for an unknown one."""
        if headers["Content-Encoding"] == "aes128gcm":
            return self.open_standard(body)
        assert headers["Content-Encoding"] == "aesgcm"
        salt = _parameters(headers["Encryption"])["salt"]
        return self.open_drafted(body, unbase64(salt), unbase64(_parameters(headers["Crypto-Key"])["dh"]))

    def open_standard(self, body: bytes) -> bytes:
        """Decrypt according to RFC 8291 section 3.4 and RFC 8188 section 2."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender_key, record = body[21 : 21 + length], body[21 + length :]
        assert len(record) <= size, "the body has more than one record"
        secret = _derive(
            self.auth, self._shared(sender_key), b"WebPush: info\0" + self.public_key + sender_key, length=32
        )
        key = _derive(salt, secret, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derive(salt, secret, b"Content-Encoding: nonce\0", 12)
        message, end, padding = _open(key, nonce, record).rpartition(b"\x02")
        assert end, "the record is not marked as the last one"
        assert not padding.strip(b"\0"), "the padding contains bytes other than 0"
        return message

    def open_drafted(self, body: bytes, salt: bytes, sender_key: bytes) -> bytes:
        """Decrypt according to draft-ietf-webpush-encryption-04 section 3 and draft-ietf-httpbis-encryption-encoding-03 section
        3.
        """
        secret = _derive(self.auth, self._shared(sender_key), b"Content-Encoding: auth\0", 32)
        context = b"P-256\0\0\x41" + self.public_key + b"\0\x41" + sender_key
        key = _derive(salt, secret, b"Content-Encoding: aesgcm\0" + context, 16)
        nonce = _derive(salt, secret, b"Content-Encoding: nonce\0" + context, 12)
        padded = _open(key, nonce, body)
        padding = int.from_bytes(padded[:2], "big")
        assert not padded[2 : 2 + padding].strip(b"\0"), "the padding contains bytes other than 0"
        return padded[2 + padding :]


@dataclass
class PushService:
    """A push service that stores requests, and returns 201, or the status in `answers` for a path."""

    address: str
    received: list[Received] = field(default_factory=list)
    answers: dict[str, int] = field(default_factory=dict)
    # Called with each request before the response, in its own thread.
    before: Callable[[Received], None] | None = None

    def endpoint(self, name: str = "one") -> str:
        return f"{self.address}/{name}"

    def at(self, name: str = "one") -> list[Received]:
        """Return all requests to an address, in order."""
        return [each for each in self.received if each.path == f"/{name}"]

    def opened(self, device: Device, name: str = "one") -> list[dict[str, Any]]:
        """Return all messages to an address, decrypted by the device."""
        return [orjson.loads(device.open(each.headers, each.body)) for each in self.at(name)]


@contextmanager
def push_service() -> Iterator[PushService]:
    """Run a push service during the block."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            request = Received(self.path, self.headers, body)
            if service.before is not None:
                service.before(request)
            service.received.append(request)
            self.send_response(service.answers.get(self.path, 201))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = listening(Handler)
    # The client may be killed meanwhile.
    server.handle_error = lambda _request, _address: None  # type: ignore[method-assign]  # of this one
    service = PushService(f"http://127.0.0.1:{server.server_port}")
    with answering(server):
        yield service
