"""Signers of requests: functions that sign on behalf of a local account or of this server."""

from collections.abc import Mapping
from functools import lru_cache

from accounts.models import Account, Follow, KeyPair
from accounts.policies.audience import is_present
from accounts.services.instance_actor import instance_actor
from accounts.services.key_pairs import keys_of
from federation.signatures import cavage
from social.kernel import clock, crypto
from social.kernel.http.client import Signer
from statuses.models import Mention, Status
from statuses.policies.visibility import is_for_addressed, is_for_anybody


@lru_cache(maxsize=1024)
def _decrypted_key(stored: str) -> str:
    return crypto.decrypt(stored)


def signer_of(key_pair: KeyPair) -> Signer:
    """Return a signer that uses draft-cavage, for the account of this key pair (contract, federation section 10 "Sending")."""
    return _signer(key_pair.key_id, _decrypted_key(key_pair.private_key))


def signers_of(key_pair: KeyPair) -> tuple[Signer, ...]:
    """Return the signers with the current key and the previous key, because other servers may know only the previous key."""
    previous = key_pair.previous_private_key
    return (signer_of(key_pair), *([_signer(key_pair.key_id, _decrypted_key(previous))] if previous else ()))


def _signer(key_id: str, private_key: str) -> Signer:
    def sign(method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Mapping[str, str]:
        return cavage.signed_headers(
            method, url, headers, body, key_id=key_id, private_key_pem=private_key, now=clock.now()
        )

    return sign


def server_signer() -> Signer:
    return signer_of(instance_actor().key_pair)


def reader_signer(status: Status) -> Signer | None:
    """Return the signer of a local account that may read a remote post (contract, federation section 10 "GET"); None for a
    public or unlisted post, and for a post that no local account may read.
    """
    if is_for_anybody(status.visibility):
        return None
    mentions = Mention.objects.filter(is_present("account"), status=status, account__domain=None)
    mention = mentions.select_related("account").order_by("id").first()
    if mention is not None:
        return signer_of(keys_of(account=mention.account))
    return None if is_for_addressed(status.visibility) else follower_signer(status.account)


def follower_signer(account: Account) -> Signer | None:
    """Return the signer of a local follower of a remote account, or None."""
    follows = Follow.objects.filter(is_present("account"), target=account, account__domain=None)
    follow = follows.select_related("account").order_by("id").first()
    return None if follow is None else signer_of(keys_of(account=follow.account))
