"""Encryption of secrets in the database with the field keys (the first encrypts, all decrypt), and hashing of passwords."""

from collections.abc import Sequence
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher


class UnreadableSecret(Exception):
    """Error for a stored secret that was encrypted with a key that this server no longer has."""


@lru_cache(maxsize=4)
def _box(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def encrypt(secret: str) -> str:
    """Return the secret as text that can only be decrypted with FIELD_ENCRYPTION_KEYS."""
    return _box(tuple(settings.FIELD_ENCRYPTION_KEYS)).encrypt(secret.encode()).decode()


def decrypt(stored: str) -> str:
    """Return the secret that `encrypt` has encrypted. Raises UnreadableSecret when none of the keys decrypts it."""
    try:
        return _box(tuple(settings.FIELD_ENCRYPTION_KEYS)).decrypt(stored.encode()).decode()
    except InvalidToken:
        raise UnreadableSecret("FIELD_ENCRYPTION_KEYS lacks the key this value was written with.") from None


def reencrypt(stored: str, keys: Sequence[str]) -> str:
    """Return the same secret, encrypted with the first of these keys. Raises UnreadableSecret when none of the keys decrypts
    the secret.
    """
    try:
        return _box(tuple(keys)).rotate(stored.encode()).decode()
    except InvalidToken:
        raise UnreadableSecret("FIELD_ENCRYPTION_KEYS lacks the key a value was written with.") from None


def new_rsa_pair() -> tuple[str, str]:
    """Return a new RSA-2048 pair as PEM: (private, public), for signing federation requests (federation section 4)."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


class PasswordHasher(Argon2PasswordHasher):
    """Argon2id with 19 MiB, two passes and one lane: the minimum in OWASP's Password Storage Cheat Sheet.

    Django's own choice takes 100 MiB and eight threads for each sign-in.
    """

    time_cost = 2
    memory_cost = 19 * 1024  # KiB
    parallelism = 1
