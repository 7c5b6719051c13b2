"""Gives accounts of this server the keys they sign with."""

from __future__ import annotations

from accounts.models import Account, KeyPair
from social.kernel import crypto


def give_keys(*, account: Account, private_key: str, public_key: str) -> KeyPair:
    """Store a new account's keys, the private one encrypted; their id is the actor's with `#main-key`.

    Call it in the transaction that makes the account. Making the pair takes tens of milliseconds: do that before.
    """
    return KeyPair.objects.create(
        account=account,
        key_id=f"{account.uri}#main-key",
        public_key=public_key,
        private_key=crypto.encrypt(private_key),
    )
