"""What every endpoint promises, for notifications."""

from __future__ import annotations

from notifications.models import Notification
from tests.factories.accounts import make_account
from tests.factories.statuses import make_favourite, make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers
from tests.support.work import work


def favourites(callers: Callers, size: int) -> Scene:
    foreign = make_status(callers.stranger)
    make_favourite(callers.account, foreign)
    for _number in range(size):
        make_favourite(make_account(), make_status(callers.account))
    work()
    own = Notification.objects.filter(account=callers.account).latest("id")
    other = Notification.objects.filter(account=callers.stranger).latest("id")
    return Scene(ids={"id": own.id}, foreign={"id": other.id})


NOTIFICATION = "api/v1/notifications/<id>"
ROWS = [
    Row("GET api/v1/notifications", favourites),
    Row("POST api/v1/notifications/clear", favourites),
    Row(f"GET {NOTIFICATION}", favourites),
    Row(f"POST {NOTIFICATION}/dismiss", favourites),
]
test_promises = battery(ROWS)
