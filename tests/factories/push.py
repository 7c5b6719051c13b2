"""Helper that creates push subscriptions for tests."""

from collections.abc import Mapping

from accounts.models import AccessToken
from notifications.models import PushPolicy, PushSubscription
from notifications.policies.push import ALERTS, PushSettings, PushTarget
from notifications.services.push_subscriptions import subscribe
from tests.support.push import Device

EVERYTHING = dict.fromkeys(ALERTS, True)


def make_push_subscription(
    token: str,
    endpoint: str = "https://push.example.org/one",
    *,
    device: Device | None = None,
    standard: bool = True,
    alerts: Mapping[str, bool] = EVERYTHING,
    policy: str = PushPolicy.ALL,
) -> PushSubscription:
    """Create a subscription for a bearer token, by default to all alerts."""
    target = PushTarget(endpoint, **(device or Device(1)).keys, standard=standard)
    return subscribe(
        token_id=AccessToken.objects.get(token=token).pk, target=target, settings=PushSettings(alerts, policy)
    )
