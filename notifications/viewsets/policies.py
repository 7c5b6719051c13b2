"""The policy for notifications, and the requests from senders whose messages it holds, over HTTP."""

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from notifications.queries import requests
from notifications.serializers import policy
from notifications.serializers.inputs.notifications import PolicyInput, PolicyV1Input, RequestsInput
from notifications.services.requests import accept_requests, change_policy, dismiss_requests
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.serializers import EntitySerializer
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound

_READ: Final = user("read:notifications")
_WRITE: Final = user("write:notifications")


class NotificationPolicyViewSet(ApiViewSet):
    entity: type[EntitySerializer] = policy.NotificationPolicySerializer
    settings_input: type[PolicyInput | PolicyV1Input] = PolicyInput
    endpoints = {
        "retrieve": Endpoint(_READ, "NotificationPolicy"),
        "update": Endpoint(_WRITE, "NotificationPolicy", input=PolicyInput),
    }

    def retrieve(self, request: Request) -> Any:
        """Show the policy, with the number of pending requests."""
        context = {"summary": requests.count_requests(self.account_id)}
        return self.entity(requests.find_policy(self.account_id), context=context).data

    def update(self, request: Request) -> Any:
        """Change the policy; settings that are not sent stay as they are."""
        change_policy(account_id=self.account_id, settings=self.settings_input.read(request).settings)
        return self.retrieve(request)


class NotificationPolicyV1ViewSet(NotificationPolicyViewSet):
    """`/api/v1/notifications/policy`, superseded by the second version."""

    entity = policy.NotificationPolicyV1Serializer
    settings_input = PolicyV1Input
    endpoints = {
        "retrieve": Endpoint(_READ, "NotificationPolicyV1"),
        "update": Endpoint(_WRITE, "NotificationPolicyV1", input=PolicyV1Input),
    }


class NotificationRequestsViewSet(ApiViewSet):
    """`/api/v1/notifications/requests`: senders whose messages are held."""

    endpoints = {
        "list": Endpoint(_READ, "NotificationRequest", many=True, paging=ByCursor(Limit(40, 80))),
        "retrieve": Endpoint(_READ, "NotificationRequest"),
        "accept": Endpoint(_WRITE, EMPTY),
        "dismiss": Endpoint(_WRITE, EMPTY),
        "accept_many": Endpoint(_WRITE, EMPTY, input=RequestsInput),
        "dismiss_many": Endpoint(_WRITE, EMPTY, input=RequestsInput),
        "merged": Endpoint(_READ, "Merged"),
    }

    def list(self, request: Request) -> HttpResponse:
        """List the pending requests, newest first."""
        page = self.paginate(requests.list_requests(self.account_id))
        return page.respond(policy.present_requests(requests.load_request_page(page.items, self.account_id)))

    def retrieve(self, request: Request, id: int) -> Any:
        """Show one request."""
        return policy.present_requests(
            requests.load_request_page([requests.find_request(self.account_id, id)], self.account_id)
        )[0]

    def accept(self, request: Request, id: int) -> Any:
        """Accept the sender and deliver the held notifications."""
        if not accept_requests(account_id=self.account_id, request_ids=[id]):
            raise NotFound
        return {}

    def dismiss(self, request: Request, id: int) -> Any:
        """Remove the request and its sender's held notifications."""
        if not dismiss_requests(account_id=self.account_id, request_ids=[id]):
            raise NotFound
        return {}

    def accept_many(self, request: Request) -> Any:
        """Accept several requests; unknown ids are skipped."""
        accept_requests(account_id=self.account_id, request_ids=RequestsInput.read(request).id)
        return {}

    def dismiss_many(self, request: Request) -> Any:
        """Dismiss several requests; unknown ids are skipped."""
        dismiss_requests(account_id=self.account_id, request_ids=RequestsInput.read(request).id)
        return {}

    def merged(self, request: Request) -> Any:
        """Show whether the notifications of accepted requests are in the list."""
        return policy.MergedSerializer(requests.is_merged(self.account_id)).data
