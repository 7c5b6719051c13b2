"""The end-to-end encryption API: devices, keys and messages. The server carries what it cannot read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.policies.devices import DeviceDraft, MessageDraft, OneTimeKeyDraft
from accounts.queries.devices import find_device, list_messages, load_devices
from accounts.serializers.device import claim_entity, device_entity, encrypted_message_entity, query_entity
from accounts.services.devices import (
    DEVICES_PER_CALL,
    claim_keys,
    clear_messages,
    deliver_messages,
    register_device,
)
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.inputs import (
    ClientInteger,
    ClientString,
    IdField,
    IdListField,
    Input,
    NestedListField,
    as_list,
    parameters,
)
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
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
    one_time_keys = NestedListField(OneTimeKeyInput)


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


class CryptoViewSet(ApiViewSet):
    """`/api/v1/crypto`. A device is bound to the token it was registered with."""

    endpoints = {
        "upload": Endpoint(user("crypto"), "Device", also=("device", "one_time_keys")),
        "count": Endpoint(user("crypto"), "OneTimeKeyCount"),
        "query": Endpoint(user("crypto"), "QueryResult", many=True, input=QueryInput),
        "claim": Endpoint(user("crypto"), "ClaimResult", many=True, also=("device",)),
        "deliver": Endpoint(user("crypto"), EMPTY, also=("device",)),
        "messages": Endpoint(user("crypto"), "EncryptedMessage", many=True, paging=ByCursor(Limit(80, 160))),
        "clear": Endpoint(user("crypto"), EMPTY, also=("up_to_id",)),
    }

    def upload(self, request: Request) -> HttpResponse:
        """Register or change one's device, and add one-time keys."""
        sent = parameters(request)
        device = sent.get("device")
        if not isinstance(device, dict) or not device:
            raise BadRequest.missing("device")
        draft = DeviceInput.read_mapping(device | {"one_time_keys": sent.get("one_time_keys")})
        made = register_device(token_id=self.identity.token_id, account_id=self.account_id, draft=draft)
        return reply(device_entity(made))

    def count(self, request: Request) -> HttpResponse:
        """How many one-time keys one's device has left."""
        return reply({"one_time_keys": find_device(self.identity.token_id).one_time_keys.count()})

    def query(self, request: Request) -> HttpResponse:
        """The devices of accounts."""
        found = load_devices(self.account_id, QueryInput.read(request).id)
        return reply([query_entity(account_id, devices) for account_id, devices in found.items()])

    def claim(self, request: Request) -> HttpResponse:
        """A one-time key of each of the devices named."""
        wanted = []
        for item in _devices(request):
            owner = parse_id(item.get("account_id"))
            if owner is not None and isinstance(item.get("device_id"), str):
                wanted.append((owner, item["device_id"]))
        taken = claim_keys(account_id=self.account_id, wanted=wanted)
        return reply([claim_entity(device, key) for device, key in taken])

    def deliver(self, request: Request) -> HttpResponse:
        """Send messages to devices: all of them, or none."""
        items = _devices(request)
        if not items:
            raise BadRequest.missing("device")
        drafts = [MessageInput.read_mapping(item) for item in items]
        deliver_messages(token_id=self.identity.token_id, account_id=self.account_id, drafts=drafts)
        return reply({})

    def messages(self, request: Request) -> HttpResponse:
        """The messages that wait for one's device, newest first."""
        page = self.paginate(list_messages(find_device(self.identity.token_id)))
        return page.respond([encrypted_message_entity(message) for message in page.items])

    def clear(self, request: Request) -> HttpResponse:
        """Delete messages that one's device has read."""
        sent = parameters(request).get("up_to_id")
        up_to_id = parse_id(sent) if sent not in (None, "") else None
        if up_to_id is None:
            raise BadRequest.missing("up_to_id")
        clear_messages(token_id=self.identity.token_id, up_to_id=up_to_id)
        return reply({})


def _devices(request: Request) -> list[dict[str, Any]]:
    """The objects in `device[]`; a single object counts as a list of one."""
    sent = parameters(request).get("device")
    if isinstance(sent, dict) and "device_id" in sent:
        return [sent]
    return [item for item in as_list(sent, by_index=True) if isinstance(item, dict)]
