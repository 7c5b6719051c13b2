"""Encrypts all encrypted values of the database with another key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.db import transaction

from accounts.models import KeyPair
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from social.kernel.crypto import reencrypt

_BATCH: Final = 200
#: Encrypted values of second factors.
_FACTOR_VALUES: Final = ("secret", "seed")


def count_encrypted() -> int:
    """Return the number of rows that hold encrypted values."""
    factors: int = Authenticator.objects.count()
    return KeyPair.objects.exclude(private_key="").count() + factors


def reencrypt_all(*, by: Staff, keys: Sequence[str]) -> Iterator[int]:
    """Encrypt every value again with the first of the keys; yield the number of rows per step.

    A repeated call resumes an interrupted rotation. Writes an audit row at its end. Raises Forbidden, and
    UnreadableSecret for a value that none of the keys decrypts.
    """
    require(by, Permission.ADMINISTRATOR)
    done, last = 0, 0
    while pairs := list(KeyPair.objects.filter(pk__gt=last).exclude(private_key="").order_by("pk")[:_BATCH]):
        with transaction.atomic():
            locked = KeyPair.objects.select_for_update().filter(pk__one_of=[pair.pk for pair in pairs])
            for pair in locked.order_by("pk"):
                pair.private_key = reencrypt(pair.private_key, keys)
                pair.previous_private_key = pair.previous_private_key and reencrypt(pair.previous_private_key, keys)
                pair.save(update_fields=["private_key", "previous_private_key"])
        last, done = pairs[-1].pk, done + len(pairs)
        yield len(pairs)
    last = 0
    while factors := list(Authenticator.objects.filter(pk__gt=last).order_by("pk")[:_BATCH]):
        with transaction.atomic():
            numbers = [factor.pk for factor in factors]
            for factor in Authenticator.objects.select_for_update().filter(pk__one_of=numbers).order_by("pk"):
                factor.data = _reencrypted(factor.data, keys)
                factor.save(update_fields=["data"])
        last, done = factors[-1].pk, done + len(factors)
        yield len(factors)
    with transaction.atomic():
        record(by=by, action="rotate_secrets", target_type="Server", target_id=0, target_name="", rows=done)


def _reencrypted(data: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return data | {name: reencrypt(data[name], keys) for name in _FACTOR_VALUES if data.get(name)}
