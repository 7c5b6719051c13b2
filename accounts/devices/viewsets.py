"""The end-to-end encryption API: devices, keys and messages. The server cannot read the messages it delivers."""

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.devices import serializers, services
from accounts.devices.queries import find_device, list_messages
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.ids import parse_id


class CryptoViewSet(ApiViewSet):
    """`/api/v1/crypto`. A device is bound to the token with which it was registered."""

    endpoints = {
        "upload": Endpoint(user("crypto"), "Device", input=serializers.UploadInput, also=("device",)),
        "count": Endpoint(user("crypto"), "OneTimeKeyCount"),
        "query": Endpoint(user("crypto"), "QueryResult", many=True, input=serializers.QueryInput),
        "claim": Endpoint(user("crypto"), "ClaimResult", many=True, input=serializers.ClaimInput),
        "deliver": Endpoint(user("crypto"), EMPTY, input=serializers.DeliveryInput),
        "messages": Endpoint(user("crypto"), "EncryptedMessage", many=True, paging=ByCursor(Limit(80, 160))),
        "clear": Endpoint(user("crypto"), EMPTY, input=serializers.ClearInput),
    }

    def upload(self, request: Request) -> HttpResponse:
        """Register or change the caller's device, and add one-time keys."""
        draft = serializers.UploadInput.read(request)
        device = services.register_device(token_id=self.identity.token_id, account_id=self.account_id, draft=draft)
        return reply(serializers.DeviceSerializer(device).data)

    def count(self, request: Request) -> HttpResponse:
        """The number of one-time keys that the caller's device has left."""
        return reply(
            serializers.OneTimeKeyCountSerializer(find_device(self.identity.token_id).one_time_keys.count()).data
        )

    def query(self, request: Request) -> HttpResponse:
        """The devices of accounts."""
        ids = serializers.QueryInput.read(request).id
        devices = services.query_devices(account_id=self.account_id, account_ids=ids)
        return reply(serializers.QueryResultSerializer(devices.items(), many=True).data)

    def claim(self, request: Request) -> HttpResponse:
        """Claim a one-time key of each of these devices."""
        taken = services.claim_keys(account_id=self.account_id, wanted=serializers.ClaimInput.read(request).wanted)
        return reply(serializers.ClaimResultSerializer(taken, many=True).data)

    def deliver(self, request: Request) -> HttpResponse:
        """Send messages to devices: all of them, or none."""
        drafts = serializers.DeliveryInput.read(request).device
        services.deliver_messages(token_id=self.identity.token_id, account_id=self.account_id, drafts=drafts)
        return reply({})

    def messages(self, request: Request) -> HttpResponse:
        """The messages that are waiting for the caller's device, newest first."""
        page = self.paginate(list_messages(find_device(self.identity.token_id)))
        return page.respond(serializers.EncryptedMessageSerializer(page.items, many=True).data)

    def clear(self, request: Request) -> HttpResponse:
        """Delete messages that the caller's device has read."""
        up_to_id = parse_id(serializers.ClearInput.read(request).up_to_id) or 0
        services.clear_messages(token_id=self.identity.token_id, up_to_id=up_to_id)
        return reply({})
