"""Tests of the count of unread notifications, which stops at a limit (contract, behaviours section 13)."""

from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from accounts.queries.users import count_waiting, forget_waiting
from notifications.models import Notification, NotificationType
from notifications.queries.listing import NotificationFilter, count_unread, list_notifications
from social.kernel import clock
from social.kernel.cursors import Cursor
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_favourite, make_remote_status, make_status
from tests.notifications.people import Person
from tests.support.work import work
from tests.timelines.plans import looked_at

pytestmark = pytest.mark.django_db
COUNT = "/api/v1/notifications/unread_count"
PAGE = 20


def count(person: Person, **params: Any) -> int:
    work()
    answer = person.api.get(COUNT, params)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert body == {"count": body["count"]}
    return int(body["count"])


def test_notifications_newer_than_the_marker_are_unread(alice: Person, bob: Person, carol: Person) -> None:
    posts = [make_status(alice.user.account) for _ in range(3)]
    for person in (bob, carol):
        for post in posts:
            make_favourite(person.user.account, post)
    carol.post("@alice hello")
    assert count(alice) == 7
    assert count(alice, limit=2) == count(alice, limit=-2) == 2
    assert count(alice, limit=0) == count(alice, limit="abc") == 0
    assert count(alice, limit=5000) == 7
    assert count(alice, **{"types[]": "mention"}) == 1
    assert count(alice, **{"types[]": ["mention", "favourite", "nonsense"]}) == 7
    assert count(alice, **{"types[]": "nonsense"}) == 0
    assert count(alice, **{"exclude_types[]": "mention"}) == 6
    assert count(alice, account_id=str(carol.id)) == 4
    assert count(alice, account_id="abc") == count(alice, account_id="1") == 0
    third = alice.notifications()[2]["id"]
    assert alice.api.post("/api/v1/markers", {"notifications": {"last_read_id": third}}).status_code == 200
    assert count(alice) == 2
    alice.do("notifications/clear")
    assert count(alice) == 0
    assert count(bob) == 0


def test_held_notifications_are_unread_only_if_their_sender_is_named(alice: Person, bob: Person) -> None:
    bob.post("@alice psst", visibility="direct")
    assert count(alice) == 0
    assert count(alice, account_id=str(bob.id)) == 1


def fill(alice: Person, number: int, **values: Any) -> None:
    """Create many notifications of favourites."""
    status = make_status(alice.user.account)
    sender = make_remote()
    fields = {"type": NotificationType.FAVOURITE, "from_account": sender, "status": status} | values
    before = Notification.objects.count()
    Notification.objects.bulk_create(
        Notification(account_id=alice.id, cause=f"favourite:{before + place}", **fields) for place in range(number)
    )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE notifications_notification")


@pytest.mark.parametrize(
    "wanted",
    [
        NotificationFilter(),
        NotificationFilter(types=["mention"]),
        NotificationFilter(types=["mention", "follow", "poll"]),
        NotificationFilter(exclude_types=["favourite"]),
        NotificationFilter(include_filtered=True),
        NotificationFilter(types=["mention"], include_filtered=True),
    ],
    ids=["all", "one type", "three types", "without a type", "with held ones", "one type, with held ones"],
)
def test_counting_and_listing_read_as_many_rows_among_many_notifications_as_among_few(
    alice: Person, wanted: NotificationFilter
) -> None:
    """A million favourites do not slow down the query for a few mentions, whatever types are requested."""
    for _ in range(3):
        make_remote_status(make_remote(), mentions=[alice.user.account])
    work()

    def cost() -> tuple[int, int]:
        return (
            looked_at(lambda: count_unread(int(alice.id), wanted, PAGE), of="notifications_notification"),
            looked_at(lambda: list_notifications(int(alice.id), wanted, Cursor(PAGE)), of="notifications_notification"),
        )

    fill(alice, 300)
    few = cost()
    fill(alice, 3000)
    assert all(now <= before + PAGE for now, before in zip(cost(), few, strict=True))


def test_listing_one_sender_reads_as_many_rows_among_many_notifications_as_among_few(alice: Person) -> None:
    sender = make_remote()
    wanted = NotificationFilter(from_account_id=sender.id)

    def cost() -> int:
        return looked_at(
            lambda: list_notifications(int(alice.id), wanted, Cursor(PAGE)), of="notifications_notification"
        )

    fill(alice, 300, from_account=sender)
    few = cost()
    fill(alice, 3000)
    fill(alice, 600, from_account=sender)
    assert cost() <= few + PAGE


def test_pages_count_unread_groups_among_the_newest_only_however_many_there_are(alice: Person) -> None:
    """Many notifications from a hidden sender must not make the query read all of them."""
    user = User.objects.get(account_id=alice.id)
    hidden = make_remote(suspended_at=clock.now())

    def counted() -> int:
        forget_waiting(user, "notifications")
        return count_waiting(user, "notifications")

    fill(alice, 1200)
    assert counted() == 1000
    fill(alice, 1200, from_account=hidden)
    assert counted() == 0
    few = looked_at(counted)
    fill(alice, 3000, from_account=hidden)
    fill(alice, 5)
    newest = Notification.objects.order_by("-id")[3]
    assert counted() == 5
    assert alice.api.post("/api/v1/markers", {"notifications": {"last_read_id": str(newest.id)}}).status_code == 200
    assert counted() == 3
    assert looked_at(counted) <= few + PAGE
