"""Knows who signed a request: finds the key, asking its server when it is unknown or does not fit any more.

Source: contract, federation section 10 "Key lookup"; security rows 11 and 12.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.conf import settings

from accounts.models import Account, KeyPair
from federation.documents.reading import MAX_URI, origin_of
from federation.remote.actors import fetch_owner
from federation.signatures import cavage, rfc9421
from federation.signatures.message import BadSignature, Message
from social.kernel import clock

DEADLINE: Final = 4.0
# A key that does not fit is asked for again, but nobody can make us ask more often than this.
_REFRESH_AFTER: Final = timedelta(minutes=1)

Parsed = cavage.CavageSignature | rfc9421.MessageSignature


@dataclass(frozen=True)
class Signed:
    """A request that was signed by `account`; `fingerprint` is the same for a replay and for nothing else."""

    account: Account
    fingerprint: str


def has_signature(message: Message) -> bool:
    """Whether a request carries any signature."""
    return "signature" in message.headers


def parse(message: Message) -> Parsed:
    """Read the signature of a request. Raises BadSignature."""
    if "signature" not in message.headers:
        raise BadSignature("Request not signed")
    if "signature-input" in message.headers:
        return rfc9421.parse(message)
    return cavage.parse(message.header("signature"))


def verify(message: Message) -> Signed:
    """Who signed the request. Never inside a transaction: it may ask the signer's server, for four seconds.

    Raises BadSignature, Rejected (there is no such signer) and Unavailable (the signer's server could not be asked).
    """
    signature = parse(message)
    key_id = signature.key_id
    if len(key_id) > MAX_URI or origin_of(key_id) is None:
        raise BadSignature("the key's id is no address", malformed=True)
    if origin_of(key_id) == origin_of(settings.BASE_URL):
        raise BadSignature("the key would be one of ours")
    known = KeyPair.objects.select_related("account").filter(key_id=key_id).first()
    if known is None:
        account = fetch_owner(key_id, deadline=DEADLINE)
        _check(signature, message, KeyPair.objects.get(account=account).public_key)
        return Signed(account, _fingerprint(signature))
    account = known.account
    try:
        _check(signature, message, known.public_key)
    except BadSignature as error:
        if error.malformed or not _may_refresh(account):
            raise
        account = fetch_owner(key_id, deadline=DEADLINE)
        fresh = KeyPair.objects.get(account=account).public_key
        if fresh == known.public_key:
            raise
        _check(signature, message, fresh)
    return Signed(account, _fingerprint(signature))


def _check(signature: Parsed, message: Message, public_key_pem: str) -> None:
    if isinstance(signature, rfc9421.MessageSignature):
        rfc9421.verify(signature, message, settings.BASE_URL, public_key_pem, clock.now())
    else:
        cavage.verify(signature, message, public_key_pem, clock.now())


def _may_refresh(account: Account) -> bool:
    return account.fetched_at is None or clock.now() - account.fetched_at > _REFRESH_AFTER


def _fingerprint(signature: Parsed) -> str:
    return hashlib.sha256(f"{signature.key_id}\n{signature.signature}".encode()).hexdigest()
