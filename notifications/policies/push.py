"""Rules of Web Push: what a subscription may hold (contract, parameters section 5), and when a message is too old."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.core.signing import BadSignature, TimestampSigner
from django.utils.translation import gettext as _

from notifications.models import NotificationType, PushPolicy
from notifications.policies.push_encryption import is_public_key
from social.kernel import links
from social.kernel.errors import FieldError
from social.kernel.lengths import NAME_LIMIT

ALERTS: Final = tuple(NotificationType.values)
"""Types of notifications that a client may ask for."""

LIFETIME: Final = timedelta(hours=48)
"""Time that a push service keeps a message for a device that is not there, and after which nothing is sent any more."""

SUBSCRIPTIONS_LIMIT: Final = 50
"""Subscriptions of one person; the oldest ends for a further one, so that what happens to somebody does not have this
server ask any number of others (security row 69)."""

_SIGNER: Final = TimestampSigner(salt="notifications.push_subscription")


@dataclass(frozen=True, slots=True)
class PushSettings:
    """Chosen types, each pushed or not, and a policy."""

    alerts: Mapping[str, bool] = field(default_factory=dict)
    policy: str = PushPolicy.ALL


@dataclass(frozen=True, slots=True)
class PushTarget:
    """The address that messages go to, and the keys of the device that reads them. `standard`: encoded by RFC 8291."""

    endpoint: str = ""
    p256dh: str = ""
    auth: str = ""
    standard: bool = False


def target_errors(target: PushTarget, *, may_be_asked: bool) -> Iterator[FieldError]:
    """Broken rules of a new subscription, in the order of the contract. `may_be_asked`: this server may send there."""
    if not target.endpoint.strip():
        yield FieldError("endpoint", "ERR_BLANK", _("can't be blank"), _("Endpoint"))
    if not may_be_asked:
        yield FieldError("endpoint", "ERR_INVALID", _("is invalid"), _("Endpoint"))
    keys = {"p256dh": target.p256dh, "auth": target.auth}
    for name, key in keys.items():
        if not key.strip():
            yield FieldError(name, "ERR_BLANK", _("can't be blank"), _("Key %(name)s") % {"name": name})
    fits = all(key.strip() and len(key) <= NAME_LIMIT for key in keys.values())
    if not fits or not is_public_key(target.p256dh):
        yield FieldError("keys", "ERR_INVALID", _("is not a valid Ed25519 or Curve25519 key"), "")


def unsubscribe_url(subscription_id: int) -> str:
    """An address at which a push service that holds a message can end the subscription, for LIFETIME."""
    return links.web_url(f"/api/web/push_subscriptions/{_SIGNER.sign(str(subscription_id))}")


def signed_subscription(signed: str) -> int | None:
    """The id of the subscription in an address of `unsubscribe_url`; None for any other text."""
    try:
        return int(_SIGNER.unsign(signed, max_age=LIFETIME))
    except (BadSignature, ValueError):
        return None
