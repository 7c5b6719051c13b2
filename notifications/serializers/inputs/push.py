"""Parameters of push subscriptions (contract, parameters section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from notifications.models import PushPolicy
from notifications.policies.push import ALERTS, PushSettings, PushTarget
from social.api.fields import ClientBoolean, ClientString, as_boolean
from social.api.inputs import Input
from social.kernel.errors import BadRequest
from social.kernel.lengths import WORD_LIMIT


@dataclass(frozen=True)
class _TargetForm:
    endpoint: str = ""
    standard: bool = False


class _TargetInput(Input[_TargetForm]):
    """The members of `subscription` beside its keys."""

    draft = _TargetForm
    endpoint = ClientString()
    standard = ClientBoolean()


@dataclass(frozen=True)
class _KeysForm:
    p256dh: str = ""
    auth: str = ""


class _KeysInput(Input[_KeysForm]):
    """The members of `subscription[keys]`."""

    draft = _KeysForm
    p256dh = ClientString()
    auth = ClientString()


@dataclass(frozen=True)
class _PolicyForm:
    policy: str = ""


class _PolicyInput(Input[_PolicyForm]):
    """The member of `data` beside its alerts. Any text is a policy, as long as it can be kept."""

    draft = _PolicyForm
    policy = ClientString(max_length=WORD_LIMIT)


class PushSettingsInput(Input[PushSettings]):
    """The parameter `data`: what is left out is as at the beginning, alerts of unknown types are dropped."""

    draft = PushSettings

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> PushSettings:
        """Read like any input. Raises BadRequest for `data` that is no object."""
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
            policy=_PolicyInput.read_mapping(data).policy or PushPolicy.ALL,
        )


class PushTargetInput(Input[PushTarget]):
    """The parameter `subscription`."""

    draft = PushTarget

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> PushTarget:
        """Read like any input. Raises BadRequest for one that is missing, empty or no object."""
        sent = values.get("subscription")
        if not isinstance(sent, dict) or not sent:
            raise BadRequest.missing("subscription")
        target = _TargetInput.read_mapping(sent)
        keys = sent.get("keys")
        device = _KeysInput.read_mapping(keys if isinstance(keys, dict) else {})
        return PushTarget(target.endpoint, device.p256dh, device.auth, target.standard)
