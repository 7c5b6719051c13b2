"""Signs requests of this server by a pure function per account."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from accounts.models import KeyPair
from accounts.services.instance_actor import instance_actor
from federation.signatures import cavage
from social.kernel import clock, crypto
from social.kernel.http.client import Signer


@lru_cache(maxsize=1024)
def _opened(stored: str) -> str:
    return crypto.decrypt(stored)


def signer_of(key_pair: KeyPair) -> Signer:
    """Signs requests as a local account, by draft-cavage (contract, federation section 10 "Sending")."""
    return _signer(key_pair.key_id, _opened(key_pair.private_key))


def signers_of(key_pair: KeyPair) -> tuple[Signer, ...]:
    """`signer_of`, and behind it the one with the key before the last rotation, for servers that know only that one."""
    previous = key_pair.previous_private_key
    return (signer_of(key_pair), *([_signer(key_pair.key_id, _opened(previous))] if previous else ()))


def _signer(key_id: str, private_key: str) -> Signer:
    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Mapping[str, str]:
        return cavage.signed_headers(
            method, url, headers, body, key_id=key_id, private_key_pem=private_key, now=clock.now()
        )

    return sign


def server_signer() -> Signer:
    """Signs requests as this server."""
    return signer_of(instance_actor().key_pair)
