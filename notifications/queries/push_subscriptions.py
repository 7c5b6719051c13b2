"""Reads push subscriptions."""

from __future__ import annotations

from django.utils.translation import gettext as _

from notifications.models import PushSubscription
from social.kernel.errors import NotFound


def find_push_subscription(token_id: int) -> PushSubscription:
    """The subscription of an access token. Raises NotFound."""
    found = PushSubscription.objects.filter(token_id=token_id).first()
    if found is None:
        raise NotFound(_("Not Found"))
    return found
