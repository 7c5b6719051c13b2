"""The entity "WebPushSubscription" (contract, entities)."""

from typing import Any

from django.conf import settings

from notifications.models import PushSubscription
from social.api.serializers import EntitySerializer


class PushSubscriptionSerializer(EntitySerializer):
    """WebPushSubscription."""

    def to_representation(self, instance: PushSubscription) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "endpoint": instance.endpoint,
            "standard": instance.standard,
            "alerts": instance.alerts,
            "server_key": settings.VAPID_PUBLIC_KEY,
            "policy": instance.policy,
        }
