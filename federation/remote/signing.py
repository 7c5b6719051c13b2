"""Signs requests of this server by a pure function per account, and keeps the account that stands for the server."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from django.conf import settings
from django.db import transaction

from accounts.models import Account, ActorType, KeyPair
from accounts.services.key_pairs import keys_of
from federation.signatures import cavage
from social.kernel import clock, crypto, links
from social.kernel.http.client import Signer
from social.kernel.locks import lock


def instance_actor_uri() -> str:
    """The id of the account that stands for this server (contract, federation section 2)."""
    return links.web_url("/actor")


def instance_username() -> str:
    """The name of that account: the domain, with a dot for the colon of a port. Nobody can sign up with a dot in the name."""
    return settings.LOCAL_DOMAIN.replace(":", ".")


def instance_actor() -> Account:
    """The account with its `key_pair` loaded, made with its keys when it is needed for the first time."""
    uri = instance_actor_uri()
    found = Account.objects.select_related("key_pair").filter(uri=uri).first()
    return found if found is not None else _make(uri)


def _make(uri: str) -> Account:
    with transaction.atomic():
        lock(f"actor:{uri}")
        found = Account.objects.select_related("key_pair").filter(uri=uri).first()
        if found is not None:
            return found
        account = Account.objects.create(
            username=instance_username(),
            uri=uri,
            actor_type=ActorType.APPLICATION,
            locked=True,
            discoverable=False,
        )
        keys_of(account=account)
    return Account.objects.select_related("key_pair").get(id=account.id)


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
    account: Account = instance_actor()
    return signer_of(account.key_pair)
