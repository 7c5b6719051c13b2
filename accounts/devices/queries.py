"""Reads devices, and the encrypted messages stored for them."""

from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from accounts.devices.models import Device, EncryptedMessage
from accounts.models import Account
from accounts.queries.relations import load_known_relations
from social.kernel.errors import require_found


def find_device(token_id: int) -> Device:
    """Return the device bound to this access token. Raises NotFound when the token has no device."""
    return require_found(Device.objects.filter(access_token_id=token_id).first())


def load_devices(viewer_id: int, account_ids: Sequence[int]) -> dict[int, list[Device]]:
    """Load devices by account id, oldest first; accounts that are not `reachable` are left out. Takes two queries."""
    shown = reachable(viewer_id, account_ids)
    devices: dict[int, list[Device]] = {account_id: [] for account_id in account_ids if account_id in shown}
    for device in Device.objects.filter(account_id__one_of=devices).order_by("id"):
        devices[device.account_id].append(device)
    return devices


def list_messages(device: Device) -> QuerySet[EncryptedMessage]:
    """List the messages stored for the device."""
    return EncryptedMessage.objects.filter(device=device)


def load_messages(message_ids: Iterable[int]) -> list[EncryptedMessage]:
    """Load messages with their devices, in the order they were stored; cleared messages are left out."""
    return list(EncryptedMessage.objects.filter(id__one_of=message_ids).select_related("device").order_by("id"))


def reachable(viewer_id: int, account_ids: Sequence[int]) -> set[int]:
    """Return the ids of those accounts that exist, are not suspended, and neither block the viewer nor are blocked by the
    viewer (blocks of servers included). Takes one query.
    """
    known, relations = load_known_relations(viewer_id, account_ids, with_suspended=False)
    hidden = relations.domain_blocking | relations.domain_blocked_by
    return {number for number in known if not relations.blocked_either_way(number) and number not in hidden}


def load_reachable_elsewhere(viewer_id: int, account_ids: Sequence[int]) -> dict[int, Account]:
    """Load the `reachable` remote accounts whose servers have stated the URL of their devices. Takes two queries."""
    shown = reachable(viewer_id, account_ids)
    remote = Account.objects.filter(id__one_of=shown, domain__isnull=False).exclude(devices_url="")
    return remote.in_bulk()
