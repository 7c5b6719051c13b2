"""What clients send for end-to-end encryption."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from accounts.policies.devices import DeviceDraft, MessageDraft, OneTimeKeyDraft
from accounts.services.devices import DEVICES_PER_CALL
from social.api.inputs import ClientInteger, ClientString, IdField, IdListField, Input, NestedListField
from social.kernel.errors import BadRequest
from social.kernel.ids import parse_id

_INT32 = 2**31 - 1


class OneTimeKeyInput(Input[OneTimeKeyDraft]):
    """A one-time key."""

    draft = OneTimeKeyDraft
    key_id = ClientString()
    key = ClientString()
    signature = ClientString()


class DeviceInput(Input[DeviceDraft]):
    """The member `device`; the one-time keys stand beside it."""

    draft = DeviceDraft
    device_id = ClientString()
    name = ClientString()
    fingerprint_key = ClientString()
    identity_key = ClientString()


class UploadInput(Input[DeviceDraft]):
    """A device (`device`) with its one-time keys."""

    draft = DeviceDraft
    one_time_keys = NestedListField(OneTimeKeyInput)

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> DeviceDraft:
        """As of any input. Raises BadRequest without a device."""
        device = values.get("device")
        if not isinstance(device, dict) or not device:
            raise BadRequest.missing("device")
        return replace(DeviceInput.read_mapping(device), one_time_keys=super().read_mapping(values).one_time_keys)


class DevicesField(NestedListField):
    """`device[]`; a single object counts as a list of one."""

    def items(self, data: Any) -> Sequence[Any]:
        """The objects."""
        return [data] if isinstance(data, dict) and "device_id" in data else super().items(data)


@dataclass(frozen=True)
class ClaimedDevice:
    """A device that is asked for a key."""

    account_id: str = ""
    device_id: str = ""


class ClaimedDeviceInput(Input[ClaimedDevice]):
    """Whose device, and which."""

    draft = ClaimedDevice
    account_id = ClientString()
    device_id = ClientString()


@dataclass(frozen=True)
class ClaimForm:
    """The parameters of a claim."""

    devices: tuple[ClaimedDevice, ...] = ()

    @property
    def wanted(self) -> list[tuple[int, str]]:
        """Accounts and their devices, those left out that cannot be one."""
        named = [(parse_id(device.account_id), device.device_id) for device in self.devices]
        return [(owner, device_id) for owner, device_id in named if owner is not None and device_id]


class ClaimInput(Input[ClaimForm]):
    """Of which devices a key is wanted."""

    draft = ClaimForm
    device = DevicesField(ClaimedDeviceInput, source="devices")


class MessageInput(Input[MessageDraft]):
    """A message for one device."""

    draft = MessageDraft
    required_keys = ("account_id", "device_id", "type", "body", "hmac")
    account_id = IdField()
    device_id = ClientString()
    type = ClientInteger(minimum=-_INT32, maximum=_INT32)
    body = ClientString()
    hmac = ClientString()


@dataclass(frozen=True)
class QueryForm:
    """The parameters of a query."""

    id: tuple[int, ...] = ()


class QueryInput(Input[QueryForm]):
    """Whose devices are asked for."""

    draft = QueryForm
    id = IdListField(scalar=True, max_items=DEVICES_PER_CALL)


@dataclass(frozen=True)
class DeliveryForm:
    """The parameters of a delivery."""

    messages: tuple[MessageDraft, ...] = ()


class DeliveryInput(Input[DeliveryForm]):
    """Messages for devices."""

    draft = DeliveryForm
    device = DevicesField(MessageInput, source="messages")

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> DeliveryForm:
        """As of any input. Raises BadRequest without a message."""
        form = super().read_mapping(values)
        if not form.messages:
            raise BadRequest.missing("device")
        return form


@dataclass(frozen=True)
class ClearForm:
    """The parameters of clearing messages."""

    up_to_id: str = ""


class ClearInput(Input[ClearForm]):
    """Up to which message, this one included."""

    draft = ClearForm
    up_to_id = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> ClearForm:
        """As of any input. Raises BadRequest without an id."""
        form = super().read_mapping(values)
        if not form.up_to_id:
            raise BadRequest.missing("up_to_id")
        return form
