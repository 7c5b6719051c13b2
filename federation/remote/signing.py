"""Knows how what this server sends is signed: a pure function per account, its key opened beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from accounts.models import Account, KeyPair
from federation.remote.instance_actor import instance_actor
from federation.signatures import cavage
from social.kernel import clock, crypto
from social.kernel.http.client import Signer


@lru_cache(maxsize=1024)
def _opened(stored: str) -> str:
    return crypto.decrypt(stored)


def signer_of(key_pair: KeyPair) -> Signer:
    """Signs requests as a local account, by draft-cavage (contract, federation section 10 "Sending")."""
    key_id, private_key = key_pair.key_id, _opened(key_pair.private_key)

    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Mapping[str, str]:
        return cavage.signed_headers(
            method, url, headers, body, key_id=key_id, private_key_pem=private_key, now=clock.now()
        )

    return sign


def server_signer() -> Signer:
    """Signs requests as this server."""
    account: Account = instance_actor()
    return signer_of(account.key_pair)
