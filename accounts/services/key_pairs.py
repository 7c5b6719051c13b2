"""Creates and rotates the keys with which local accounts sign, and encrypts stored secrets again with a new key."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.events import ProfileUpdated
from accounts.models import Account, KeyPair, User
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record, record_about
from social.kernel import clock
from social.kernel.crypto import encrypt, reencrypt
from social.kernel.crypto import new_rsa_pair as new_rsa_pair  # signing up generates keys outside of its transaction
from social.kernel.errors import Conflict
from social.kernel.events import publish
from social.kernel.locks import keep_rows

PREVIOUS_KEY_RETENTION: Final = timedelta(days=7)
"""Time for which the previous key may still sign deliveries after a rotation; deliveries are retried for this long."""
MISSING_KEYS_AT_ONCE: Final = 10


def keys_of(*, account: Account) -> KeyPair:
    """Return the keys of a local account; create them if they are missing. Concurrent calls return the same keys."""
    pair = KeyPair.objects.filter(account=account).first()
    if pair is None:
        store_keys(account=account, pair=new_rsa_pair())
        pair = KeyPair.objects.get(account=account)
    return pair


def store_keys(*, account: Account, pair: tuple[str, str]) -> None:
    """Store the keys (`pair`: private, public) of a local account, unless it has keys; the private key is encrypted.

    Every account gets keys when it is created, because keys created later could be missing from a backup that contains the
    account.
    """
    private_key, public_key = pair
    key_pair = KeyPair(
        account=account, key_id=f"{account.uri}#main-key", public_key=public_key, private_key=encrypt(private_key)
    )
    KeyPair.objects.bulk_create([key_pair], ignore_conflicts=True)


def make_missing_keys() -> int:
    """Create keys for at most MISSING_KEYS_AT_ONCE accounts that have none; return how many. Run by the scheduler."""
    # The query starts from users and is unordered, because a query ordered by account ids would read all remote accounts.
    people = User.objects.filter(account__key_pair=None, account__deleted_at=None).select_related("account")
    accounts = [user.account for user in people[:MISSING_KEYS_AT_ONCE]]
    for account in accounts:
        pair = new_rsa_pair()
        with transaction.atomic():
            if keep_rows(Account, [account.pk]):
                store_keys(account=account, pair=pair)
    return len(accounts)


def rotate_keys(*, by: Staff, account: Account) -> bool:
    """Replace the keys of a local account under the same id; return False if it has no keys. Publishes ProfileUpdated.

    For PREVIOUS_KEY_RETENTION, deliveries to servers that do not know the new key are signed with the old one
    (contract, federation section 10). Raises Forbidden, and Conflict for a remote account.
    """
    require(by, Permission.MANAGE_FEDERATION)
    if not account.local:
        raise Conflict(_("Only accounts of this server have keys here."))
    # The keys are generated outside of the transaction, because this takes a tenth of a second.
    private_key, public_key = new_rsa_pair()
    with transaction.atomic():
        pair = KeyPair.objects.select_for_update().filter(account=account).first()
        if pair is None:
            return False
        pair.previous_private_key, pair.private_key = pair.private_key, encrypt(private_key)
        pair.public_key, pair.rotated_at = public_key, clock.now()
        pair.save(update_fields=["previous_private_key", "private_key", "public_key", "rotated_at"])
        publish(ProfileUpdated(account_id=account.id))
        record_about(by, "rotate_keys", account)
    return True


def forget_previous_keys() -> int:
    """Delete the previous keys of accounts whose keys were rotated longer than PREVIOUS_KEY_RETENTION ago; return how many."""
    old = KeyPair.objects.filter(rotated_at__lt=clock.now() - PREVIOUS_KEY_RETENTION).exclude(previous_private_key="")
    return old.update(previous_private_key="")


_BATCH: Final = 200
#: Names of the encrypted values in the data of second factors.
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
