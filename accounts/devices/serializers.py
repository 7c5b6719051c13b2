"""The entities and parameters of end-to-end encryption (contract, entities "Crypto entities")."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from accounts.devices.models import Device, EncryptedMessage, OneTimeKey
from accounts.devices.policies import DeviceDraft, MessageDraft, OneTimeKeyDraft, RemoteDevice
from accounts.devices.services import DEVICES_PER_CALL
from social.api.fields import ClientInteger, IdField, IdListField, NestedListField
from social.api.inputs import Form, Input
from social.api.serializers import EntitySerializer
from social.kernel import clock
from social.kernel.errors import BadRequest
from social.kernel.ids import parse_id


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
    """ClaimResult: a device, with the one-time key that was claimed from it."""

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


_INT32 = 2**31 - 1


class OneTimeKeyInput(Input[OneTimeKeyDraft]):
    fields = ("key_id", "key", "signature")


class DeviceInput(Input[DeviceDraft]):
    """The device is in the member `device`; its one-time keys are next to that member, not inside it."""

    fields = ("device_id", "name", "fingerprint_key", "identity_key")


class UploadInput(Input[DeviceDraft]):
    one_time_keys = NestedListField(OneTimeKeyInput)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> DeviceDraft:
        """Return the device with its keys. Raises BadRequest if the device is missing."""
        device = values.get("device")
        if not isinstance(device, dict) or not device:
            raise BadRequest.missing("device")
        return replace(DeviceInput.read_mapping(device), one_time_keys=super().read_mapping(values).one_time_keys)


class DevicesField(NestedListField):
    """The list `device[]`; a single object is read as a list of one item."""

    def items(self, data: Any) -> Sequence[Any]:
        return [data] if isinstance(data, dict) and "device_id" in data else super().items(data)


class ClaimedDeviceInput(Form):
    account_id: str = ""
    device_id: str = ""


class ClaimInput(Form):
    device: Annotated[tuple[ClaimedDeviceInput, ...], DevicesField(ClaimedDeviceInput)] = ()

    @property
    def wanted(self) -> list[tuple[int, str]]:
        """Pairs of account id and device id, without pairs that cannot be valid."""
        pairs = [(parse_id(device.account_id), device.device_id) for device in self.device]
        return [(owner, device_id) for owner, device_id in pairs if owner is not None and device_id]


class MessageInput(Input[MessageDraft]):
    required_keys = ("account_id", "device_id", "type", "body", "hmac")
    fields = ("device_id", "body", "hmac")
    account_id = IdField()
    type = ClientInteger(minimum=-_INT32, maximum=_INT32)


class QueryInput(Form):
    id: Annotated[tuple[int, ...], IdListField(scalar=True, max_items=DEVICES_PER_CALL)] = ()


class DeliveryInput(Form):
    required_keys = ("device",)
    device: Annotated[tuple[MessageDraft, ...], DevicesField(MessageInput)] = ()


class ClearInput(Form):
    """The id of the last message to be deleted from the queue."""

    required_keys = ("up_to_id",)
    up_to_id: str = ""
