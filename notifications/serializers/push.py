"""The entity "WebPushSubscription" (contract, entities)."""

from typing import Any

from django.conf import settings

from notifications.models import PushSubscription
from social.api.serializers import EntitySerializer


class PushSubscriptionSerializer(EntitySerializer):
    """WebPushSubscription.

    `id` is the id of the access token, which has at most one subscription: Mastodon for Android and Tusky read it as a number
    of 32 bits and do not subscribe if it is larger (pachli/pachli-android#1888).
    """

    def to_representation(self, instance: PushSubscription) -> dict[str, Any]:
        return {
            "id": str(instance.token_id),
            "endpoint": instance.endpoint,
            "standard": instance.standard,
            "alerts": instance.alerts,
            "server_key": settings.VAPID_PUBLIC_KEY,
            "policy": instance.policy,
        }
