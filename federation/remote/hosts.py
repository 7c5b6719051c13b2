"""What to do when a paused server has answered again."""

from __future__ import annotations

from django.db.models.functions import Now

from federation.events import DeliveriesDue
from federation.models import Delivery, Host
from social.kernel.claims import idle
from social.kernel.events import publish


def record_contact(name: str) -> bool:
    """A host has sent us something: if it was left alone, it is tried again now; whether it was.

    In the caller's transaction. Announces DeliveriesDue (contract, federation section 11).
    """
    if not Host.objects.filter(name=name, retry_at__gt=Now()).update(retry_at=Now()):
        return False
    Delivery.objects.filter(idle(), host=name, dead_at=None, due_at__gt=Now()).update(due_at=Now())
    publish(DeliveriesDue())
    return True
