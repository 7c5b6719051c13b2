"""Rules of Web Push: valid subscriptions (contract, parameters section 5), and the lifetime of messages."""

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
"""Types of notifications to which a client may subscribe."""

LIFETIME: Final = timedelta(hours=48)
"""Time for which a push service keeps a message for a device that is offline, and for which this server tries to send the
message.
"""

SUBSCRIPTIONS_LIMIT: Final = 50
"""Maximum number of subscriptions per user, which limits the requests that one notification can cause. A further subscription
replaces the oldest (security row 69).
"""

_SIGNER: Final = TimestampSigner(salt="notifications.push_subscription")


@dataclass(frozen=True, slots=True)
class PushSettings:
    """Settings of a subscription: the policy, and whether notifications of each type are pushed."""

    alerts: Mapping[str, bool] = field(default_factory=dict)
    policy: str = PushPolicy.ALL


@dataclass(frozen=True, slots=True)
class PushTarget:
    """The endpoint to which messages are sent, and the keys of the device. `standard`: messages are encoded as in RFC 8291."""

    endpoint: str = ""
    p256dh: str = ""
    auth: str = ""
    standard: bool = False


def target_errors(target: PushTarget, *, may_be_asked: bool) -> Iterator[FieldError]:
    """Return the errors of a new subscription. `may_be_asked` tells whether this server may send requests to the endpoint."""
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
    """Return a URL, valid for LIFETIME, with which a push service that got a message can end the subscription."""
    return links.web_url(f"/api/web/push_subscriptions/{_SIGNER.sign(str(subscription_id))}")


def signed_subscription(signed: str) -> int | None:
    """Return the id of the subscription in a URL of `unsubscribe_url`; None for any other text."""
    try:
        return int(_SIGNER.unsign(signed, max_age=LIFETIME))
    except (BadSignature, ValueError):
        return None
