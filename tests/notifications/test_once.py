"""Tests that each interaction creates exactly one notification, with any order or repetition of events.

After a killed process a stream may repeat a notification at most once; held notifications are never streamed.
"""

import random
import threading
import time
from collections import Counter

import orjson
import pytest
from django.db import connection, transaction

from notifications.models import Notification, NotificationPermission, NotificationRequest
from notifications.services.notifying import Note, notify
from notifications.services.requests import accept_requests
from social.kernel.outbox import OutboxRow, drain
from tests.conformance.test_seed_events import subscribed
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_favourite, make_reblog, make_remote_status, make_status
from tests.kernel.test_outbox_kills import kill, wait_for
from tests.notifications import drain_process
from tests.notifications.people import Person
from tests.runtime.processes import eventually
from tests.support.at_once import at_once
from tests.support.work import work
from timelines.stores import channels
from timelines.stores.messages import Message

pytestmark = pytest.mark.django_db(transaction=True)
Interaction = tuple[str, int]


@pytest.fixture
def alice() -> Person:
    work()
    return Person("alice")


def interact(alice: Person, senders: int) -> tuple[set[Interaction], set[Interaction]]:
    """Create favourites, boosts, mentions and private mentions; return the type and sender of the delivered and of the held
    ones.

    One in three favourites is undone.
    """
    post = make_status(alice.user.account)
    delivered, held = set(), set()
    for number in range(senders):
        sender = make_remote()
        favourite = make_favourite(sender, post)
        make_reblog(sender, post)
        make_remote_status(sender, mentions=[alice.user.account])
        delivered |= {("reblog", sender.id), ("mention", sender.id)}
        if number % 3:
            delivered.add(("favourite", sender.id))
        else:
            favourite.delete()
        stranger = make_remote()
        make_remote_status(stranger, visibility="direct", mentions=[alice.user.account])
        held.add(("mention", stranger.id))
    OutboxRow.objects.exclude(queue="notifications").delete()
    return delivered, held


def found(alice: Person, *, filtered: bool) -> Counter[Interaction]:
    rows = Notification.objects.filter(account_id=alice.id, filtered=filtered)
    return Counter(rows.values_list("type", "from_account_id"))


def repeat_and_shuffle(times: int) -> None:
    """Replace the queued events with several copies of each, in random order."""
    rows = list(OutboxRow.objects.values_list("queue", "subscriber", "event", "payload")) * times
    random.Random(7).shuffle(rows)
    OutboxRow.objects.all().delete()
    OutboxRow.objects.bulk_create(
        [OutboxRow(queue=queue, key="", subscriber=who, event=event, payload=body) for queue, who, event, body in rows],
        batch_size=500,
    )


def streamed(messages: list[tuple[str, bytes]]) -> Counter[int]:
    """Return how often each notification was streamed."""
    decoded = [Message.decode(data) for _channel, data in messages]
    return Counter(int(orjson.loads(one.payload or b"")["id"]) for one in decoded if one.event == "notification")


def test_repeated_and_reordered_events_handled_by_several_workers_notify_once(alice: Person) -> None:
    delivered, held = interact(alice, 12)
    repeat_and_shuffle(3)

    def handle(_place: int) -> None:
        while drain("notifications", 5):
            pass

    with subscribed(channels.notifications(int(alice.id))) as received:
        errors = [error for error in at_once(4, handle) if error is not None]
        work()
    assert not errors
    assert found(alice, filtered=False) == Counter(delivered)
    assert found(alice, filtered=True) == Counter(held)
    ids = Notification.objects.filter(account_id=alice.id, filtered=False).values_list("id", flat=True)
    assert streamed(received) == Counter(ids)
    counts = NotificationRequest.objects.filter(account_id=alice.id).values_list("notifications_count", flat=True)
    assert list(counts) == [1] * len(held)


@pytest.mark.verify
def test_killed_workers_lose_no_notification_and_repeat_it_in_streams_once_for_each_kill(alice: Person) -> None:
    delivered, held = interact(alice, 60)
    repeat_and_shuffle(2)
    with subscribed(channels.notifications(int(alice.id))) as received:
        kills = handle_while_killing()
        work()
    assert found(alice, filtered=False) == Counter(delivered)
    assert found(alice, filtered=True) == Counter(held)
    ids = set(Notification.objects.filter(account_id=alice.id, filtered=False).values_list("id", flat=True))
    came = streamed(received)
    assert set(came) == ids
    assert max(came.values()) <= 1 + kills
    print(f"{kills} kills, {sum(came.values()) - len(ids)} repeats of {len(ids)}")


@pytest.mark.verify
def test_killed_workers_deliver_everything_of_an_accepted_request_once(alice: Person) -> None:
    sender = make_remote()
    posts = [make_remote_status(sender, visibility="direct", mentions=[alice.user.account]) for _ in range(3)]
    work()
    Notification.objects.bulk_create(
        (
            Notification(
                account_id=alice.id, from_account=sender, type="favourite", cause=f"favourite:{number}", filtered=True
            )
            for number in range(2500)
        ),
        batch_size=500,
    )
    waiting = NotificationRequest.objects.get(account_id=alice.id)
    accept_requests(account_id=int(alice.id), request_ids=[waiting.id])
    with subscribed(channels.notifications(int(alice.id))) as received:
        kills = handle_while_killing()
        work()
    assert not Notification.objects.filter(filtered=True).exists()
    assert Notification.objects.filter(account_id=alice.id).count() == 2503
    assert not NotificationPermission.objects.filter(merging=True).exists()
    conversations = alice.api.get("/api/v1/conversations").json()
    assert sorted(one["last_status"]["id"] for one in conversations) == sorted(str(post.id) for post in posts)
    merged = [Message.decode(data).event for _channel, data in received]
    assert set(merged) == {"notifications_merged"}
    assert len(merged) <= 1 + kills


def handle_while_killing() -> int:
    """Let three processes handle the events, kill and replace one after the other until no event is left, and return the number
    of kills.
    """
    chance = random.Random(3)
    living = [drain_process.start() for _ in range(3)]
    kills = 0
    try:
        deadline = time.monotonic() + 240
        waiting = OutboxRow.objects.filter(queue="notifications")
        while waiting.exists():
            assert time.monotonic() < deadline, list(waiting.values())[:3]
            victim = chance.randrange(3)
            wait_for(living[victim], "ready")
            time.sleep(chance.uniform(0.1, 0.6))
            kill(living[victim])
            kills += 1
            living[victim] = drain_process.start()
    finally:
        for process in living:
            kill(process)
    assert kills
    return kills


class TestAcceptingWhileSomethingArrives:
    """A notification does not stay held if its sender is accepted at the same moment."""

    @pytest.fixture
    def note(self, alice: Person) -> Note:
        """The notification of a favourite by an account that already has a held message."""
        alice.api.patch("/api/v2/notifications/policy", {"for_not_following": "filter"})
        sender = make_remote()
        make_remote_status(sender, mentions=[alice.user.account])
        work()
        return Note(int(alice.id), sender.id, "favourite", "favourite:1")  # type: ignore[arg-type]  # a word of the type

    def accept(self, note: Note) -> None:
        waiting = NotificationRequest.objects.get(account_id=note.recipient_id)
        accept_requests(account_id=note.recipient_id, request_ids=[waiting.id])

    def is_waiting(self) -> bool:
        """Return whether a query is waiting for a lock."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            (number,) = cursor.fetchone()
        return bool(number)

    def meanwhile(self, action: object) -> threading.Thread:
        def run() -> None:
            try:
                action()  # type: ignore[operator]  # a function without arguments
            finally:
                connection.close()

        thread = threading.Thread(target=run)
        thread.start()
        eventually(self.is_waiting)
        return thread

    def test_notifications_held_while_their_sender_is_accepted_are_delivered(self, note: Note) -> None:
        with transaction.atomic():
            assert notify([note]) == []
            accepting = self.meanwhile(lambda: self.accept(note))
        accepting.join()
        work()
        assert list(Notification.objects.values_list("filtered", flat=True)) == [False, False]

    def test_notifications_after_a_concurrent_acceptance_are_not_held(self, note: Note) -> None:
        with transaction.atomic():
            self.accept(note)
            notifying = self.meanwhile(lambda: notify([note]))
        notifying.join()
        assert not Notification.objects.get(cause="favourite:1").filtered
