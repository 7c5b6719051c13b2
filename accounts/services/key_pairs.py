"""Gives accounts of this server the keys they sign with."""

from __future__ import annotations

from accounts.models import Account, KeyPair
from social.kernel.crypto import encrypt, new_rsa_pair


def keys_of(*, account: Account) -> KeyPair:
    """The keys of a local account; made when they are needed for the first time, which takes a tenth of a second.

    Most of what signing up would cost otherwise, and many accounts never write to another server. Two at the same
    moment get the same pair. The private key is stored encrypted; the id is the actor's with `#main-key`.
    """
    found = KeyPair.objects.filter(account=account).first()
    if found is None:
        private_key, public_key = new_rsa_pair()
        made = KeyPair(
            account=account,
            key_id=f"{account.uri}#main-key",
            public_key=public_key,
            private_key=encrypt(private_key),
        )
        KeyPair.objects.bulk_create([made], ignore_conflicts=True)
        found = KeyPair.objects.get(account=account)
    return found
