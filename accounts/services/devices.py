"""Registers devices of end-to-end encryption, hands out their one-time keys, and stores messages for them.

Source: contract, behaviours "end-to-end encryption", parameters "Crypto" (SEED-162 to SEED-170).
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from django.db import connection, transaction
from django.utils.translation import gettext as _

from accounts.events import EncryptedMessageStored
from accounts.models import Device, EncryptedMessage, OneTimeKey
from accounts.policies.devices import DeviceDraft, MessageDraft, device_errors, message_errors
from accounts.queries.devices import find_device, reachable
from social.kernel import clock, crypto
from social.kernel.errors import Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock

ONE_TIME_KEYS_LIMIT = 200
MESSAGES_LIMIT = 5000
DEVICES_PER_CALL = 100

# One statement, so that no two callers are given the same key: who finds it locked takes another.
_TAKE_KEY = """
DELETE FROM accounts_onetimekey WHERE id = (
    SELECT id FROM accounts_onetimekey WHERE device_id = %s ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING key_id, key, signature
"""


def register_device(*, token_id: int, account_id: int, draft: DeviceDraft) -> Device:
    """Register or change the device of a token, and add one-time keys; a key id that exists is replaced.

    Another device id, fingerprint key or identity key makes it another device: its one-time keys and messages are
    deleted. A device of the account with the same id that is bound to another token moves to this one.
    Raises Invalid for keys that are not valid, and when more than ONE_TIME_KEYS_LIMIT one-time keys would wait.
    """
    found = device_errors(draft)
    if found:
        raise Invalid.of(found)
    keys = (draft.device_id, draft.fingerprint_key, draft.identity_key)
    with transaction.atomic():
        lock(f"devices:{account_id}")
        same_id = Device.objects.filter(account_id=account_id, device_id=draft.device_id).first()
        of_token = Device.objects.filter(access_token_id=token_id).first()
        if of_token is not None and of_token != same_id:
            of_token.delete()
        if same_id is not None and (same_id.device_id, same_id.fingerprint_key, same_id.identity_key) != keys:
            same_id.delete()
            same_id = None
        if same_id is None:
            device = Device.objects.create(
                access_token_id=token_id,
                account_id=account_id,
                device_id=draft.device_id,
                name=draft.name,
                fingerprint_key=draft.fingerprint_key,
                identity_key=draft.identity_key,
            )
        else:
            device = same_id
            Device.objects.filter(id=device.id).update(access_token_id=token_id, name=draft.name)
            device.access_token_id, device.name = token_id, draft.name
        _add_one_time_keys(device, draft)
    return device


def _add_one_time_keys(device: Device, draft: DeviceDraft) -> None:
    if not draft.one_time_keys:
        return
    new = {
        key.key_id: OneTimeKey(device=device, key_id=key.key_id, key=key.key, signature=key.signature)
        for key in draft.one_time_keys
    }
    if len(new) <= ONE_TIME_KEYS_LIMIT:
        OneTimeKey.objects.bulk_create(
            new.values(),
            update_conflicts=True,
            unique_fields=["device", "key_id"],
            update_fields=["key", "signature"],
            batch_size=ONE_TIME_KEYS_LIMIT,
        )
    if len(new) > ONE_TIME_KEYS_LIMIT or device.one_time_keys.count() > ONE_TIME_KEYS_LIMIT:
        raise Invalid.sentence(_("A device holds at most %(count)s one-time keys") % {"count": ONE_TIME_KEYS_LIMIT})


def claim_keys(*, account_id: int, wanted: Sequence[tuple[int, str]]) -> list[tuple[Device, OneTimeKey]]:
    """Take one one-time key from each of these devices (account id, device id), in their order.

    Unknown devices, devices without keys, and those of accounts that may not be reached are left out. No key is ever
    handed out twice. Raises Invalid for more than DEVICES_PER_CALL devices.
    """
    wanted = list(dict.fromkeys(wanted))
    devices = _find_devices(account_id, wanted)
    taken = []
    for pair in wanted:
        device = devices.get(pair)
        if device is None:
            continue
        with connection.cursor() as cursor:
            cursor.execute(_TAKE_KEY, [device.pk])
            row = cursor.fetchone()
        if row is not None:
            taken.append((device, OneTimeKey(device=device, key_id=row[0], key=row[1], signature=row[2])))
    return taken


def deliver_messages(*, token_id: int, account_id: int, drafts: Sequence[MessageDraft]) -> None:
    """Store a message for each of these devices, all or none. Announces EncryptedMessageStored for each.

    Raises NotFound when the sender's token has no device or a receiving device is unknown or may not be reached;
    Invalid for a body that is too long, a device where MESSAGES_LIMIT messages wait, or too many devices.
    """
    sender = find_device(token_id)
    for draft in drafts:
        found = message_errors(draft)
        if found:
            raise Invalid.of(found)
    pairs = [(draft.account_id or 0, draft.device_id) for draft in drafts]
    devices = _find_devices(account_id, pairs)
    if any(pair not in devices for pair in pairs):
        raise NotFound
    now = clock.now()
    with transaction.atomic():
        for device in sorted(set(devices.values()), key=lambda device: device.pk):
            lock(f"messages:{device.pk}")
            waiting = EncryptedMessage.objects.filter(device=device)[:MESSAGES_LIMIT].count()
            if waiting + sum(devices[pair] == device for pair in pairs) > MESSAGES_LIMIT:
                raise Invalid.sentence(_("Too many messages wait for this device"))
        stored = [
            EncryptedMessage(
                device=devices[pair],
                from_account_id=account_id,
                from_device_id=sender.device_id,
                type=draft.type,
                body=draft.body,
                digest=draft.hmac,
                message_franking=_franking(sender, devices[pair], draft.hmac),
                created_at=now,
            )
            for pair, draft in zip(pairs, drafts, strict=True)
        ]
        EncryptedMessage.objects.bulk_create(stored, batch_size=DEVICES_PER_CALL)
        publish(*(EncryptedMessageStored(message_id=message.id) for message in stored))


def clear_messages(*, token_id: int, up_to_id: int) -> None:
    """Delete the messages of the token's device, up to and including this id. Raises NotFound without a device."""
    EncryptedMessage.objects.filter(device=find_device(token_id), id__lte=up_to_id).delete()


def _find_devices(account_id: int, wanted: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Device]:
    if len(wanted) > DEVICES_PER_CALL:
        raise Invalid.sentence(_("At most %(count)s devices at a time") % {"count": DEVICES_PER_CALL})
    shown = reachable(account_id, [owner for owner, _device_id in wanted])
    found = Device.objects.filter(
        account_id__one_of=shown, device_id__one_of={device_id for _owner, device_id in wanted}
    )
    return {(device.account_id, device.device_id): device for device in found}


def _franking(sender: Device, device: Device, digest: str) -> str:
    """The text that a recipient who reports the message hands to this server's staff: who sent it, when, and its
    digest.

    Only this server can read it, so a report cannot be forged.
    """
    statement = {
        "source_account_id": str(sender.account_id),
        "target_account_id": str(device.account_id),
        "timestamp": clock.iso(clock.now()),
        "digest": digest,
    }
    return crypto.encrypt(orjson.dumps(statement).decode())
