"""Knows the entities of end-to-end encryption (contract, entities "Crypto entities")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.models import Device, EncryptedMessage, OneTimeKey
from social.kernel import clock


def device_entity(device: Device) -> dict[str, Any]:
    """A device: what others need to write to it."""
    return {
        "device_id": device.device_id,
        "name": device.name,
        "identity_key": device.identity_key,
        "fingerprint_key": device.fingerprint_key,
    }


def query_entity(account_id: int, devices: Sequence[Device]) -> dict[str, Any]:
    """The devices of one account."""
    return {"account_id": str(account_id), "devices": [device_entity(device) for device in devices]}


def claim_entity(device: Device, key: OneTimeKey) -> dict[str, Any]:
    """The one-time key that a device was asked for."""
    return {
        "account_id": str(device.account_id),
        "device_id": device.device_id,
        "key_id": key.key_id,
        "key": key.key,
        "signature": key.signature,
    }


def encrypted_message_entity(message: EncryptedMessage) -> dict[str, Any]:
    """A message as its recipient's device gets it: account and device are the sender's."""
    return {
        "id": str(message.id),
        "account_id": str(message.from_account_id),
        "device_id": message.from_device_id,
        "type": message.type,
        "body": message.body,
        "digest": message.digest,
        "message_franking": message.message_franking,
        "created_at": clock.iso(message.created_at),
    }
