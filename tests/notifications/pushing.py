"""Helpers for the tests of Web Push: users with applications, a push service, and queued pushes."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db.models.functions import Now

from accounts.models import Account
from notifications.events import NotificationMade
from notifications.models import Notification, Push, PushSubscription
from notifications.senders.web_push import PUSHES, queue_pushes
from social.kernel.runner import Host
from tests.factories.push import make_push_subscription
from tests.notifications import people
from tests.support.push import Device, PushService, push_service

DEVICE = Device(11)


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    """A push service on this machine, which this server may call."""
    settings.FEDERATION_LOOPBACK = True
    with push_service() as running:
        yield running


class Person(people.Person):
    def subscribe(self, endpoint: str, **values: Any) -> PushSubscription:
        return make_push_subscription(self.token, endpoint, device=DEVICE, **values)


@pytest.fixture
def ann() -> Person:
    return Person("ann")


def push_again() -> None:
    """Run the queued pushes without the pauses after failures."""
    Push.objects.update(due_at=Now())
    Host.objects.update(retry_at=Now())
    PUSHES.run()


def make_notification(person: Person, sender: Account, kind: str = "follow", **values: Any) -> Notification:
    """Create a notification of any type, as `notify` would."""
    cause = f"test:{Notification.objects.count()}"
    return Notification.objects.create(account_id=person.id, from_account=sender, type=kind, cause=cause, **values)


def queue(*made: Notification) -> None:
    queue_pushes([NotificationMade(notification_id=each.id, account_id=each.account_id) for each in made])


def pushed(person: Person) -> list[str]:
    """Return the types of a user's queued pushes."""
    waiting = Push.objects.filter(subscription__token__user=person.user).order_by("id")
    return list(waiting.values_list("notification__type", flat=True))
