from django.http import HttpResponse
from rest_framework.request import Request

from notifications.queries.pushes import find_push_subscription
from notifications.serializers.inputs.push import PushSettingsInput, PushTargetInput
from notifications.serializers.push import PushSubscriptionSerializer
from notifications.services import push_subscriptions
from social.api.access import anyone, user
from social.api.declarations import EMPTY, Endpoint
from social.api.responses import reply, reply_empty
from social.api.viewsets import ApiViewSet

_ENTITY = "WebPushSubscription"


class PushSubscriptionsViewSet(ApiViewSet):
    """`/api/v1/push/subscription`: the subscription of the access token in use."""

    endpoints = {
        "retrieve": Endpoint(user("push"), _ENTITY),
        "create": Endpoint(user("push"), _ENTITY, also=("subscription", "data", "policy")),
        "update": Endpoint(user("push"), _ENTITY, also=("data", "policy")),
        "destroy": Endpoint(user("push"), EMPTY),
        "unsubscribe": Endpoint(anyone(), None),
    }

    def retrieve(self, request: Request) -> HttpResponse:
        """Show the subscription."""
        return reply(PushSubscriptionSerializer(find_push_subscription(self.identity.token_id)).data)

    def create(self, request: Request) -> HttpResponse:
        """Subscribe; this replaces an earlier subscription."""
        target, settings = PushTargetInput.read(request), PushSettingsInput.read(request)
        subscription = push_subscriptions.subscribe(token_id=self.identity.token_id, target=target, settings=settings)
        return reply(PushSubscriptionSerializer(subscription).data)

    def update(self, request: Request) -> HttpResponse:
        """Change which notifications are pushed."""
        settings = PushSettingsInput.read(request)
        subscription = push_subscriptions.change_push_settings(token_id=self.identity.token_id, settings=settings)
        return reply(PushSubscriptionSerializer(subscription).data)

    def destroy(self, request: Request) -> HttpResponse:
        """Unsubscribe; repeating it is not an error."""
        push_subscriptions.unsubscribe(token_id=self.identity.token_id)
        return reply({})

    def unsubscribe(self, request: Request, signed: str) -> HttpResponse:
        """End the subscription whose URL was sent with a message; no authentication is needed."""
        push_subscriptions.unsubscribe_by_link(signed=signed)
        return reply_empty(request)
