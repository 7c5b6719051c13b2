"""End-to-end encryption: devices, their one-time keys, and messages for them (contract, "Crypto")."""

from collections.abc import Mapping, Sequence

import orjson
from django.db import connection, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from accounts.devices import policies
from accounts.devices.models import Device, EncryptedMessage, OneTimeKey
from accounts.devices.ports import remote_devices
from accounts.devices.queries import find_device, load_devices, load_reachable_elsewhere, reachable
from accounts.events import EncryptedMessageStored
from accounts.models import AccessToken, Account, Follow
from social.api.admission import count
from social.api.limits import CLAIMS, refuse_exceeded
from social.kernel import clock, crypto
from social.kernel.errors import Invalid, NotFound, Unauthorized, require_valid
from social.kernel.events import publish
from social.kernel.locks import keep_row, keep_rows, lock, lock_row

AnyDevice = Device | policies.RemoteDevice
ONE_TIME_KEYS_LIMIT = 200
MESSAGES_LIMIT = 5000
# Limits on a device's stored messages from one other account, and from all strangers together, so that nobody can fill the
# device's queue (security row 75). A stranger neither follows the device's owner nor is followed by the owner.
MESSAGES_OF_ONE = 500
MESSAGES_OF_STRANGERS = 2500
DEVICES_PER_CALL = 100

# A single statement that skips locked keys, so that no two callers get the same key.
_TAKE_KEY = """
DELETE FROM accounts_onetimekey WHERE id = (
    SELECT id FROM accounts_onetimekey WHERE device_id = %s ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING key_id, key, signature
"""


def register_device(*, token_id: int, account_id: int, draft: policies.DeviceDraft) -> Device:
    """Register or change the device of a token, and add or replace one-time keys by their ids.

    If the device id, the fingerprint key or the identity key changes, the device is replaced by a new device that has neither
    one-time keys nor messages. If the account has a device with this id on another token, that device is moved to this token.
    Raises Invalid for invalid keys and for more than ONE_TIME_KEYS_LIMIT keys; Unauthorized when the token is being revoked.
    """
    require_valid(policies.device_errors(draft))
    keys = (draft.device_id, draft.fingerprint_key, draft.identity_key)
    with transaction.atomic():
        lock(f"devices:{account_id}")
        if not keep_rows(AccessToken, [token_id]):
            raise Unauthorized
        same_id = Device.objects.filter(account_id=account_id, device_id=draft.device_id).first()
        of_token = Device.objects.filter(access_token_id=token_id).first()
        if of_token is not None and of_token != same_id:
            lock_row(of_token).delete()
        if same_id is not None and (same_id.device_id, same_id.fingerprint_key, same_id.identity_key) != keys:
            lock_row(same_id).delete()
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


def _add_one_time_keys(device: Device, draft: policies.DeviceDraft) -> None:
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


def query_devices(*, account_id: int, account_ids: Sequence[int]) -> dict[int, Sequence[AnyDevice]]:
    """Return the devices of these accounts; accounts whose servers do not respond are left out."""
    devices_of: dict[int, Sequence[AnyDevice]] = dict(load_devices(account_id, account_ids))
    elsewhere = load_reachable_elsewhere(account_id, account_ids)
    finder = remote_devices.find()
    if elsewhere and finder is not None:
        answers = finder.load(elsewhere.values())
        devices_of = {number: answers.get(number, devices) for number, devices in devices_of.items()}
        for number in elsewhere.keys() - answers.keys():
            del devices_of[number]
    return devices_of


def claim_keys(
    *, account_id: int, wanted: Sequence[tuple[int, str]]
) -> list[tuple[AnyDevice, OneTimeKey | policies.OneTimeKeyDraft]]:
    """Claim a one-time key of each of these devices, given as (account id, device id); the result keeps their order.

    Devices that are unknown, have no keys or are not `reachable` are left out. No key is handed out twice. Raises Invalid for
    more than DEVICES_PER_CALL devices, and RateLimited for more claims of one owner's keys than CLAIMS allows.
    """
    wanted = list(dict.fromkeys(wanted))
    devices = _find_devices(account_id, wanted)
    claimant = f"account:{account_id}"
    for owner in [found.account_id for found in devices.values() if found.account_id != account_id]:
        refuse_exceeded([count(CLAIMS, subject=f"{claimant} {owner}")])
    elsewhere = _load_remote(load_reachable_elsewhere(account_id, [owner for owner, _device_id in wanted]))
    taken: list[tuple[AnyDevice, OneTimeKey | policies.OneTimeKeyDraft]] = []
    for pair in wanted:
        device = devices.get(pair)
        if device is None:
            remote = elsewhere.get(pair)
            finder = remote_devices.find()
            key = finder.claim(remote, account_id=account_id) if remote is not None and finder is not None else None
            if remote is not None and key is not None:
                taken.append((remote, key))
            continue
        with connection.cursor() as cursor:
            cursor.execute(_TAKE_KEY, [device.pk])
            row = cursor.fetchone()
        if row is not None:
            taken.append((device, OneTimeKey(device=device, key_id=row[0], key=row[1], signature=row[2])))
    return taken


def deliver_messages(*, token_id: int, account_id: int, drafts: Sequence[policies.MessageDraft]) -> None:
    """Store messages for local devices, and send messages for remote devices to their servers: all of them, or none.

    Publishes EncryptedMessageStored for each stored message. Raises NotFound when the sender's token has no device, and for a
    receiving device that is unknown or not `reachable`. A device counts as known while its server does not respond. Raises
    Invalid for a body that is too long, for too many devices, and for more than MESSAGES_LIMIT messages.
    """
    sender = find_device(token_id)
    for draft in drafts:
        require_valid(policies.message_errors(draft))
    pairs = [(draft.account_id or 0, draft.device_id) for draft in drafts]
    devices = _find_devices(account_id, pairs)
    remote = _find_targets(account_id, [pair for pair in pairs if pair not in devices])
    now = clock.now()
    with transaction.atomic():
        for device in sorted(set(devices.values()), key=lambda device: device.pk):
            lock(f"messages:{device.pk}")
            keep_row(device)
            _check_room(device, account_id, sum(devices.get(pair) == device for pair in pairs))
        stored = [
            EncryptedMessage(
                device=devices[pair],
                from_account_id=account_id,
                from_device_id=sender.device_id,
                type=draft.type,
                body=draft.body,
                digest=draft.hmac,
                message_franking=_franking(account_id, pair[0], draft.hmac),
                created_at=now,
            )
            for pair, draft in zip(pairs, drafts, strict=True)
            if pair in devices
        ]
        EncryptedMessage.objects.bulk_create(stored, batch_size=DEVICES_PER_CALL)
        publish(*(EncryptedMessageStored(message_id=message.id) for message in stored))
        finder = remote_devices.find()
        for pair, draft in zip(pairs, drafts, strict=True):
            if finder is not None and pair not in devices:
                franking = _franking(account_id, pair[0], draft.hmac)
                finder.deliver(sender=sender, target=remote[pair[0]], message=draft, franking=franking)


def receive_message(
    *, sender: Account, recipient: Account, from_device_id: str, message: policies.MessageDraft, franking: str
) -> None:
    """Store a message from a remote account for a local device. Publishes EncryptedMessageStored.

    `franking` is the statement from the sender's server, which this server includes in its own statement. Raises NotFound for
    an unknown device and a blocked sender; Invalid like `deliver_messages`.
    """
    require_valid(policies.message_errors(message))
    device = _find_devices(sender.id, [(recipient.id, message.device_id)]).get((recipient.id, message.device_id))
    if device is None:
        raise NotFound
    with transaction.atomic():
        lock(f"messages:{device.pk}")
        keep_row(device)
        _check_room(device, sender.id, 1)
        stored = EncryptedMessage.objects.create(
            device=device,
            from_account=sender,
            from_device_id=from_device_id,
            type=message.type,
            body=message.body,
            digest=message.hmac,
            message_franking=_franking(sender.id, recipient.id, message.hmac, original_franking=franking),
        )
        publish(EncryptedMessageStored(message_id=stored.id))


def _check_room(device: Device, sender_id: int, number: int) -> None:
    """Raise Invalid when a device has no room for this number of further messages from the sender."""
    waiting = EncryptedMessage.objects.filter(device=device)
    limits = [(waiting, MESSAGES_LIMIT)]
    if sender_id != device.account_id:
        limits.append((waiting.filter(from_account=sender_id), MESSAGES_OF_ONE))
        owner = device.account_id
        follows = Follow.objects.filter(
            Q(account=owner, target=OuterRef("from_account")) | Q(account=OuterRef("from_account"), target=owner)
        )
        if not Follow.objects.filter(Q(account=owner, target=sender_id) | Q(account=sender_id, target=owner)).exists():
            limits.append((waiting.filter(~Exists(follows)).exclude(from_account=owner), MESSAGES_OF_STRANGERS))
    if any(rows[:limit].count() + number > limit for rows, limit in limits):
        raise Invalid.sentence(_("Too many messages are waiting for this device"))


def clear_messages(*, token_id: int, up_to_id: int) -> None:
    """Delete the messages of the token's device up to and including this id. Raises NotFound if the token has no device."""
    EncryptedMessage.objects.filter(device=find_device(token_id), id__lte=up_to_id).delete()


def _find_devices(account_id: int, wanted: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Device]:
    if len(wanted) > DEVICES_PER_CALL:
        raise Invalid.sentence(_("At most %(count)s devices at a time") % {"count": DEVICES_PER_CALL})
    shown = reachable(account_id, [owner for owner, _device_id in wanted])
    devices = Device.objects.filter(
        account_id__one_of=shown, device_id__one_of={device_id for _owner, device_id in wanted}
    )
    return {(device.account_id, device.device_id): device for device in devices}


def _load_remote(accounts: Mapping[int, Account]) -> dict[tuple[int, str], policies.RemoteDevice]:
    """Return the devices of remote accounts by account and device id; accounts whose servers do not respond are left out."""
    finder = remote_devices.find()
    loaded = finder.load(accounts.values()) if accounts and finder is not None else {}
    return {(device.account_id, device.device_id): device for devices in loaded.values() for device in devices}


def _find_targets(account_id: int, wanted: Sequence[tuple[int, str]]) -> dict[int, Account]:
    """Return the remote accounts of these devices. Raises NotFound for a device that its server does not know."""
    if not wanted:
        return {}
    finder = remote_devices.find()
    if finder is None:
        raise NotFound
    accounts = load_reachable_elsewhere(account_id, [owner for owner, _device_id in wanted])
    known = finder.load(accounts.values()) if accounts else {}
    for owner, device_id in wanted:
        if owner not in accounts or not device_id:
            raise NotFound
        if owner in known and device_id not in {device.device_id for device in known[owner]}:
            raise NotFound
    return accounts


def _franking(source_account_id: int, target_account_id: int, digest: str, **more: str) -> str:
    """Return the encrypted statement with which a recipient can report a message; only this server can read it."""
    statement = {
        "source_account_id": str(source_account_id),
        "target_account_id": str(target_account_id),
        "timestamp": clock.iso(clock.now()),
        "digest": digest,
        **more,
    }
    return crypto.encrypt(orjson.dumps(statement).decode())
