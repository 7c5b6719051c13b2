"""Parameters of end-to-end encryption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

from accounts.devices.policies import DeviceDraft, MessageDraft, OneTimeKeyDraft
from accounts.devices.services import DEVICES_PER_CALL
from social.api.fields import ClientInteger, IdField, IdListField, NestedListField
from social.api.inputs import Form, Input
from social.kernel.errors import BadRequest
from social.kernel.ids import parse_id

_INT32 = 2**31 - 1


class OneTimeKeyInput(Input[OneTimeKeyDraft]):
    fields = ("key_id", "key", "signature")


class DeviceInput(Input[DeviceDraft]):
    """The member `device`; the one-time keys are not inside it but beside it."""

    fields = ("device_id", "name", "fingerprint_key", "identity_key")


class UploadInput(Input[DeviceDraft]):
    """A device (`device`) with its one-time keys."""

    one_time_keys = NestedListField(OneTimeKeyInput)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> DeviceDraft:
        """Read the values like any input. Raises BadRequest without a device."""
        device = values.get("device")
        if not isinstance(device, dict) or not device:
            raise BadRequest.missing("device")
        return replace(DeviceInput.read_mapping(device), one_time_keys=super().read_mapping(values).one_time_keys)


class DevicesField(NestedListField):
    """The list `device[]`; a single object is read as a list of one item."""

    def items(self, data: Any) -> Sequence[Any]:
        return [data] if isinstance(data, dict) and "device_id" in data else super().items(data)


class ClaimedDeviceInput(Form):
    """A device whose key is claimed."""

    account_id: str = ""
    device_id: str = ""


class ClaimInput(Form):
    """The devices whose one-time keys are claimed."""

    device: Annotated[tuple[ClaimedDeviceInput, ...], DevicesField(ClaimedDeviceInput)] = ()

    @property
    def wanted(self) -> list[tuple[int, str]]:
        """Pairs of account id and device id, without pairs that cannot be valid."""
        named = [(parse_id(device.account_id), device.device_id) for device in self.device]
        return [(owner, device_id) for owner, device_id in named if owner is not None and device_id]


class MessageInput(Input[MessageDraft]):
    """A message for one device."""

    required_keys = ("account_id", "device_id", "type", "body", "hmac")
    fields = ("device_id", "body", "hmac")
    account_id = IdField()
    type = ClientInteger(minimum=-_INT32, maximum=_INT32)


class QueryInput(Form):
    """The accounts whose devices are requested."""

    id: Annotated[tuple[int, ...], IdListField(scalar=True, max_items=DEVICES_PER_CALL)] = ()


class DeliveryInput(Form):
    """Messages for devices."""

    required_keys = ("device",)
    device: Annotated[tuple[MessageDraft, ...], DevicesField(MessageInput)] = ()


class ClearInput(Form):
    """The id of the last message to be deleted from the queue."""

    required_keys = ("up_to_id",)
    up_to_id: str = ""
