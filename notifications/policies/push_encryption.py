"""Encrypts messages for devices in both encodings of Web Push, and signs tokens for push services.

Sources: RFC 8291 with RFC 8188 (`aes128gcm`); draft-ietf-webpush-encryption-04 with draft-ietf-httpbis-encryption-encoding-03
(`aesgcm`); RFC 8292 (VAPID); contract, behaviours section 17. docs/adr/0028 says why no library is used.
"""

import base64
import os
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

_CURVE: Final = ec.SECP256R1()
_POINT_BYTES: Final = 65
_SALT_BYTES: Final = 16
_RECORD_BYTES: Final = 4096
_ALPHABET: Final = str.maketrans("-_", "+/")


def encode_base64(raw: bytes) -> str:
    """Return Base64 in the URL-safe alphabet, without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode_base64(text: str) -> bytes:
    """Return the bytes of Base64 in either alphabet, padded or not. Raises ValueError."""
    bare = text.rstrip("=").translate(_ALPHABET)
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _point(raw: bytes) -> ec.EllipticCurvePublicKey:
    if len(raw) != _POINT_BYTES:
        raise ValueError("not an uncompressed point")
    return ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, raw)


def is_public_key(p256dh: str) -> bool:
    """Tell whether this is the public key of a device: an uncompressed point of P-256 in Base64."""
    try:
        _point(_decode_base64(p256dh))
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Encrypted:
    """An encrypted message: the body, and the salt and key that the device needs to decrypt it."""

    body: bytes
    salt: bytes
    sender_key: bytes


class Device:
    """The keys of a device. Only the device can decrypt messages that are encrypted with these keys. `auth` may be any text
    (contract, parameters section 5); if it is not Base64, no device can decrypt the messages. Raises ValueError for a `p256dh`
    that `is_public_key` refuses.
    """

    def __init__(self, p256dh: str, auth: str) -> None:
        self._raw = _decode_base64(p256dh)
        self._public = _point(self._raw)
        try:
            self._auth = _decode_base64(auth)
        except ValueError:
            self._auth = auth.encode()

    def encrypt(self, message: bytes) -> Encrypted:
        """Return the message in the encoding `aes128gcm`: one record, with its own header (RFC 8188 section 2.1)."""
        shared, sender_key, salt = self._agree()
        secret = _derive(shared, self._auth, b"WebPush: info\0" + self._raw + sender_key, 32)
        key, nonce = _keys(secret, salt, b"aes128gcm", b"")
        header = salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(sender_key)]) + sender_key
        return Encrypted(header + AESGCM(key).encrypt(nonce, message + b"\x02", None), salt, sender_key)

    def encrypt_as_drafted(self, message: bytes) -> Encrypted:
        """Return the message in the encoding `aesgcm`, whose salt and key go into HTTP headers."""
        shared, sender_key, salt = self._agree()
        secret = _derive(shared, self._auth, b"Content-Encoding: auth\0", 32)
        context = b"P-256\0" + b"".join(len(key).to_bytes(2, "big") + key for key in (self._raw, sender_key))
        key, nonce = _keys(secret, salt, b"aesgcm", context)
        # The first two bytes are the length of the padding.
        return Encrypted(AESGCM(key).encrypt(nonce, b"\0\0" + message, None), salt, sender_key)

    def _agree(self) -> tuple[bytes, bytes, bytes]:
        """Return a shared secret, the public key from which the device derives it, and a salt, all new for each message."""
        own = ec.generate_private_key(_CURVE)
        sender_key = own.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return own.exchange(ec.ECDH(), self._public), sender_key, os.urandom(_SALT_BYTES)


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


def _keys(secret: bytes, salt: bytes, encoding: bytes, context: bytes) -> tuple[bytes, bytes]:
    key = _derive(secret, salt, b"Content-Encoding: " + encoding + b"\0" + context, 16)
    return key, _derive(secret, salt, b"Content-Encoding: nonce\0" + context, 12)


@lru_cache(maxsize=256)
def vapid_token(*, private_key: str, public_key: str, audience: str, subject: str, expires: int) -> str:
    """Return the token that identifies this server to a push service, a JWT signed with ES256 (RFC 8292 section 2).

    `audience` is the origin of the service, `subject` a contact address of the operator, `expires` a Unix time in seconds.
    Raises ValueError for invalid keys.
    """
    point = _decode_base64(public_key)
    coordinates = {"x": encode_base64(point[1:33]), "y": encode_base64(point[33:])}
    key = JWK(kty="EC", crv="P-256", d=private_key, **coordinates)
    token = JWT(header={"typ": "JWT", "alg": "ES256"}, claims={"aud": audience, "exp": expires, "sub": subject})
    token.make_signed_token(key)
    return str(token.serialize())
