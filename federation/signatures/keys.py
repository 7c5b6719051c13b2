"""RSA keys: cached loading, signing and verification with PKCS#1 v1.5 and SHA-256."""

import base64
import binascii
from functools import lru_cache

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from federation.reasons import Reason
from federation.signatures.message import BadSignature, WrongKey

_SMALLEST_BITS = 1024
_LARGEST_BITS = 8192


@lru_cache(maxsize=512)
def private_key(pem: str) -> rsa.RSAPrivateKey:
    """Load a private key of this server. Skips validation, which takes a thousand times as long as signing."""
    key = serialization.load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, rsa.RSAPrivateKey):
        raise TypeError("not an RSA key")
    return key


# The cache stays small, because `read_key` ignores keys of more than a few kilobytes.
@lru_cache(maxsize=256)
def public_key(pem: str) -> rsa.RSAPublicKey:
    """Load a remote key. Raises WrongKey for anything but an RSA key of an accepted size."""
    try:
        key = serialization.load_pem_public_key(pem.encode())
    except (ValueError, UnsupportedAlgorithm, UnicodeEncodeError):
        raise WrongKey(Reason.KEY_UNREADABLE) from None
    if not isinstance(key, rsa.RSAPublicKey) or not _SMALLEST_BITS <= key.key_size <= _LARGEST_BITS:
        raise WrongKey(Reason.OTHER_KIND_OF_KEY)
    return key


def sign(pem: str, text: str) -> str:
    """Return the signature of a text, in base64."""
    return base64.b64encode(private_key(pem).sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())).decode()


def bytes_of(signature: str) -> bytes:
    """Return the bytes of a signature in base64, which may have white space or no padding. Raises BadSignature."""
    plain = "".join(signature.split()).rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise BadSignature(Reason.SIGNATURE_UNREADABLE) from None


def check(pem: str, signature: str, text: str) -> None:
    """Raise WrongKey unless `signature` is the key's signature of the text, and BadSignature when `signature` is not base64."""
    try:
        public_key(pem).verify(bytes_of(signature), text.encode(), padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise WrongKey(Reason.SIGNATURE_WRONG) from None
