"""The entities of end-to-end encryption (contract, entities "Crypto entities")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accounts.devices.models import Device, EncryptedMessage, OneTimeKey
from accounts.devices.policies import OneTimeKeyDraft, RemoteDevice
from social.api.serializers import EntitySerializer
from social.kernel import clock


class DeviceSerializer(EntitySerializer):
    """Device: the data that other devices need to send messages to it."""

    def to_representation(self, instance: Device | RemoteDevice) -> dict[str, Any]:
        return {
            "device_id": instance.device_id,
            "name": instance.name,
            "identity_key": instance.identity_key,
            "fingerprint_key": instance.fingerprint_key,
        }


class OneTimeKeyCountSerializer(EntitySerializer):
    """OneTimeKeyCount: how many keys a device has left."""

    def to_representation(self, instance: int) -> dict[str, Any]:
        return {"one_time_keys": instance}


class QueryResultSerializer(EntitySerializer):
    """QueryResult: the id of an account with its devices."""

    def to_representation(self, instance: tuple[int, Sequence[Device | RemoteDevice]]) -> dict[str, Any]:
        account_id, devices = instance
        return {"account_id": str(account_id), "devices": DeviceSerializer(devices, many=True).data}


class ClaimResultSerializer(EntitySerializer):
    """ClaimResult: a device with a one-time key of it, which was claimed."""

    def to_representation(self, instance: tuple[Device | RemoteDevice, OneTimeKey | OneTimeKeyDraft]) -> dict[str, Any]:
        device, key = instance
        return {
            "account_id": str(device.account_id),
            "device_id": device.device_id,
            "key_id": key.key_id,
            "key": key.key,
            "signature": key.signature,
        }


class EncryptedMessageSerializer(EntitySerializer):
    """EncryptedMessage as its recipient's device gets it: `account` and `device` are the sender's."""

    def to_representation(self, instance: EncryptedMessage) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "account_id": str(instance.from_account_id),
            "device_id": instance.from_device_id,
            "type": instance.type,
            "body": instance.body,
            "digest": instance.digest,
            "message_franking": instance.message_franking,
            "created_at": clock.iso(instance.created_at),
        }
