"""Parameters of push subscriptions (contract, parameters section 5)."""

from collections.abc import Mapping
from typing import Annotated, Any

from notifications.models import PushPolicy
from notifications.policies.push import ALERTS, PushSettings, PushTarget
from social.api.fields import ClientString, as_boolean
from social.api.inputs import Form, Input
from social.kernel.errors import BadRequest
from social.kernel.lengths import WORD_LIMIT


class _TargetInput(Form):
    endpoint: str = ""
    standard: bool = False


class _KeysInput(Form):
    p256dh: str = ""
    auth: str = ""


class _PolicyInput(Form):
    """The member `policy` of `data`, or of the request itself. Any text is accepted as long as it can be stored."""

    policy: Annotated[str, ClientString(max_length=WORD_LIMIT)] = ""


def _policy(values: Mapping[str, Any]) -> str:
    return str(_PolicyInput.read_mapping(values).policy)


class PushSettingsInput(Input[PushSettings]):
    """The parameter `data`: missing values get their defaults, and alerts of unknown types are dropped.

    A `policy` beside `data` counts if `data` has none: the documentation of Mastodon lists it there for PUT, and Mastodon for
    Android, Elk and Phanpy send it there. Mastodon ignores it and pushes what people refused (mastodon/mastodon#23265).
    """

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> PushSettings:
        """Read the settings. Raises BadRequest if `data` is not an object."""
        data = values.get("data") or {}
        if not isinstance(data, dict):
            raise BadRequest.missing("data")
        sent = data.get("alerts")
        alerts = sent if isinstance(sent, dict) else {}
        return PushSettings(
            alerts={
                kind: as_boolean(value)
                for kind in ALERTS
                if (value := alerts.get(kind)) not in (None, "") and not isinstance(value, list | dict)
            },
            policy=next((policy for place in (data, values) if (policy := _policy(place))), PushPolicy.ALL),
        )


class PushTargetInput(Input[PushTarget]):
    """The parameter `subscription`."""

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> PushTarget:
        """Read the target. Raises BadRequest if `subscription` is missing, empty or not an object."""
        subscription = values.get("subscription")
        if not isinstance(subscription, dict) or not subscription:
            raise BadRequest.missing("subscription")
        target = _TargetInput.read_mapping(subscription)
        keys = subscription.get("keys")
        device = _KeysInput.read_mapping(keys if isinstance(keys, dict) else {})
        return PushTarget(target.endpoint, device.p256dh, device.auth, target.standard)
