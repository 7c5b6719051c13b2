"""Tests of notification requests, which remain until they are accepted or dismissed (contract, behaviours section 13)."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from notifications.events import NotificationsMerged, RequestAccepted
from notifications.models import Notification, NotificationPermission, NotificationRequest
from notifications.services import requests
from notifications.services.requests import deliver_held
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from tests.conformance.test_seed_events import subscribed
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_favourite, make_remote_status, make_status
from tests.notifications.people import Person
from tests.support.entities import check_all
from tests.support.work import work
from timelines.policies.streams import open_stream
from timelines.stores import channels
from timelines.stores.messages import Message

pytestmark = pytest.mark.django_db
REQUESTS = "/api/v1/notifications/requests"


@pytest.fixture(autouse=True)
def stranger_policy(alice: Person) -> None:
    """Alice's policy holds notifications from accounts that she does not follow."""
    assert alice.api.patch("/api/v2/notifications/policy", {"for_not_following": "filter"}).status_code == 200


def waiting(person: Person) -> list[tuple[str, str]]:
    """Return the sender and the number of notifications of each request, newest request first."""
    work()
    found = person.api.get(REQUESTS).json()
    check_all("NotificationRequest", found)
    return [(request["account"]["acct"], request["notifications_count"]) for request in found]


def request_of(person: Person, sender: Person) -> int:
    work()
    return NotificationRequest.objects.get(account_id=person.id, from_account_id=sender.id).id


def summary(person: Person) -> tuple[int, int]:
    work()
    found = person.api.get("/api/v2/notifications/policy").json()["summary"]
    return found["pending_requests_count"], found["pending_notifications_count"]


def is_merged(person: Person) -> bool:
    found = person.api.get(f"{REQUESTS}/merged").json()
    assert found == {"merged": found["merged"]}
    return bool(found["merged"])


def test_only_held_messages_create_requests(alice: Person, bob: Person, carol: Person) -> None:
    post = alice.post("hello")
    bob.do(f"statuses/{post['id']}/favourite")
    bob.do(f"statuses/{post['id']}/reblog")
    bob.do(f"accounts/{alice.id}/follow")
    assert waiting(alice) == []
    assert alice.api.get(REQUESTS).headers.get("Link") is None
    bob.post("@alice hello")
    carol.post("look", quoted_status_id=post["id"])
    last = bob.post("@alice again")
    assert waiting(alice) == [("carol", "1"), ("bob", "2")]
    assert summary(alice) == (2, 3)
    shown = alice.api.get(f"{REQUESTS}/{request_of(alice, bob)}").json()
    assert (shown["last_status"]["id"], shown["updated_at"] >= shown["created_at"]) == (last["id"], True)
    assert alice.types() == []
    assert sorted(alice.types(include_filtered="true")) == [
        "favourite",
        "follow",
        "mention",
        "mention",
        "quote",
        "reblog",
    ]


def test_accepting_a_request_delivers_held_and_later_notifications(alice: Person, bob: Person) -> None:
    bob.do(f"statuses/{alice.post('hello')['id']}/favourite")
    bob.post("@alice one")
    bob.post("@alice two")
    number = request_of(alice, bob)
    assert alice.do(f"notifications/requests/{number}/accept") == {}
    assert waiting(alice) == []
    delivered = alice.notifications()
    assert [item["type"] for item in delivered] == ["mention", "mention", "favourite"]
    assert all("filtered" not in item and item["group_key"] == f"ungrouped-{item['id']}" for item in delivered)
    assert alice.api.post(f"{REQUESTS}/{number}/accept").status_code == 404
    bob.post("@alice three", visibility="direct")
    assert alice.types() == ["mention", "mention", "mention", "favourite"]


def test_merged_is_true_when_everything_is_delivered(
    alice: Person, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notifications are delivered in batches: if a worker stops after a batch, delivery continues with the next one."""
    monkeypatch.setattr(requests, "BATCH_SIZE", 2)
    for number in range(5):
        bob.post(f"@alice {number}")
    assert is_merged(alice)
    alice.do(f"notifications/requests/{request_of(alice, bob)}/accept")
    event = RequestAccepted(account_id=int(alice.id), from_account_id=int(bob.id))
    OutboxRow.objects.all().delete()
    held = Notification.objects.filter(account_id=alice.id, filtered=True)
    for left in (3, 1):
        deliver_held([event])
        assert (held.count(), is_merged(alice)) == (left, False)
        assert OutboxRow.objects.get().event == "RequestAccepted"
        OutboxRow.objects.all().delete()
    deliver_held([event])
    assert (held.count(), is_merged(alice)) == (0, True)
    assert OutboxRow.objects.get().event == NotificationsMerged.__name__
    deliver_held([event])
    assert Notification.objects.filter(account_id=alice.id).count() == 5


def test_accepting_one_request_leaves_the_others_pending(alice: Person, bob: Person, carol: Person) -> None:
    for person in (bob, carol):
        person.post("@alice hello")
    alice.do(f"notifications/requests/{request_of(alice, bob)}/accept")
    assert waiting(alice) == [("carol", "1")]
    assert [item["account"]["acct"] for item in alice.notifications()] == ["bob"]


def test_held_private_mentions_enter_conversations_when_accepted(alice: Person, bob: Person) -> None:
    first = bob.post("@alice one", visibility="direct")
    second = bob.post("@alice two", visibility="direct", in_reply_to_id=first["id"])
    bob.post("@alice in public")
    work()
    assert alice.api.get("/api/v1/conversations").json() == []
    alice.do(f"notifications/requests/{request_of(alice, bob)}/accept")
    work()
    (conversation,) = alice.api.get("/api/v1/conversations").json()
    assert (conversation["unread"], conversation["last_status"]["id"]) == (True, second["id"])


def test_dismissing_a_request_removes_held_notifications_and_a_new_message_creates_another(
    alice: Person, bob: Person, carol: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "BATCH_SIZE", 2)
    bob.do(f"statuses/{alice.post('hello')['id']}/favourite")
    for number in range(4):
        bob.post(f"@alice {number}")
    carol.post("@alice hello")
    number = request_of(alice, bob)
    assert alice.do(f"notifications/requests/{number}/dismiss") == {}
    bob.post("@alice once more")
    assert alice.api.post(f"{REQUESTS}/{number}/dismiss").status_code == 404
    assert waiting(alice) == [("bob", "1"), ("carol", "1")]
    held = alice.notifications(account_id=str(bob.id))
    assert [re.sub("<.*?>", "", item["status"]["content"]) for item in held] == ["@alice once more"]
    assert not NotificationPermission.objects.exists()


def test_many_are_accepted_or_dismissed_at_once(alice: Person, bob: Person, carol: Person) -> None:
    dora = Person("dora")
    for person in (bob, carol, dora):
        person.post("@alice hello")
    numbers = {person.id: request_of(alice, person) for person in (bob, carol, dora)}
    assert alice.do("notifications/requests/accept", {"id": [str(numbers[bob.id]), "1", "abc"]}) == {}
    assert alice.do("notifications/requests/dismiss", {"id": str(numbers[carol.id])}) == {}
    for nothing in ({}, {"id": []}, {"id": "abc"}):
        for act in ("accept", "dismiss"):
            assert alice.do(f"notifications/requests/{act}", nothing) == {}
    assert waiting(alice) == [("dora", "1")]
    assert [item["account"]["acct"] for item in alice.notifications()] == ["bob"]


def test_requests_of_others_are_not_found(alice: Person, bob: Person, carol: Person) -> None:
    bob.post("@alice hello")
    number = request_of(alice, bob)
    assert carol.api.get(f"{REQUESTS}/{number}").status_code == 404
    for act in ("accept", "dismiss"):
        assert carol.api.post(f"{REQUESTS}/{number}/{act}").status_code == 404
        assert carol.do(f"notifications/requests/{act}", {"id": [str(number)]}) == {}
    assert waiting(alice) == [("bob", "1")]


def test_a_request_counts_a_hundred_messages_at_most(alice: Person) -> None:
    sender = make_remote()
    for _ in range(3):
        make_remote_status(sender, mentions=[alice.user.account])
    work()
    first = Notification.objects.filter(account_id=alice.id).earliest("id")
    Notification.objects.bulk_create(
        Notification(
            account_id=alice.id,
            from_account=sender,
            type="mention",
            status_id=first.status_id,
            cause=f"mention:{-number}",
            filtered=True,
        )
        for number in range(1, 120)
    )
    make_remote_status(sender, mentions=[alice.user.account])
    assert [number for _sender, number in waiting(alice)] == ["100"]
    assert summary(alice) == (1, 100)


def test_clearing_keeps_requests_and_a_new_message_is_counted_from_one(alice: Person, bob: Person) -> None:
    bob.post("@alice one")
    bob.post("@alice two")
    work()
    alice.do("notifications/clear")
    assert waiting(alice) == [("bob", "2")]
    bob.post("@alice three")
    assert waiting(alice) == [("bob", "1")]


def test_deleted_posts_and_dismissed_notifications_leave_the_request(alice: Person, bob: Person) -> None:
    posts = [bob.post(f"@alice {number}") for number in range(3)]
    assert waiting(alice) == [("bob", "3")]
    bob.api.delete(f"/api/v1/statuses/{posts[2]['id']}")
    assert waiting(alice) == [("bob", "2")]
    assert alice.api.get(REQUESTS).json()[0]["last_status"]["id"] == posts[1]["id"]
    held = alice.notifications(account_id=str(bob.id))
    alice.do(f"notifications/{held[0]['id']}/dismiss")
    assert waiting(alice) == [("bob", "1")]
    bob.api.delete(f"/api/v1/statuses/{posts[0]['id']}")
    assert waiting(alice) == []


@pytest.mark.parametrize("how", ["block", "mute"])
def test_blocking_and_muting_end_requests_and_blocking_ends_permissions(alice: Person, bob: Person, how: str) -> None:
    bob.post("@alice one")
    alice.do(f"notifications/requests/{request_of(alice, bob)}/accept")
    work()
    alice.do(f"accounts/{bob.id}/{how}")
    bob.post("@alice two")
    assert alice.notifications() == []
    alice.do(f"accounts/{bob.id}/un{how}")
    bob.post("@alice three")
    assert (alice.types(), waiting(alice)) == (([], [("bob", "1")]) if how == "block" else (["mention"], []))
    alice.do(f"accounts/{bob.id}/{how}")
    assert waiting(alice) == []


def test_blocking_a_server_ends_requests_and_permissions_of_its_people(alice: Person) -> None:
    eve, mallory = make_remote("eve", "loud.example"), make_remote("mallory", "loud.example")
    for sender in (eve, mallory):
        make_remote_status(sender, mentions=[alice.user.account])
    work()
    first = NotificationRequest.objects.get(from_account=eve)
    alice.do(f"notifications/requests/{first.id}/accept")
    work()
    assert alice.api.post("/api/v1/domain_blocks", {"domain": "loud.example"}).status_code == 200
    assert waiting(alice) == []
    assert not Notification.objects.filter(account_id=alice.id).exists()
    assert not NotificationPermission.objects.exists()


def test_requests_of_suspended_senders_are_hidden_while_they_are_suspended(alice: Person, bob: Person) -> None:
    bob.post("@alice hello")
    number = request_of(alice, bob)
    Account.objects.filter(id=bob.id).update(suspended_at=clock.now())
    assert (waiting(alice), summary(alice)) == ([], (0, 0))
    assert alice.api.get(f"{REQUESTS}/{number}").status_code == 404
    Account.objects.filter(id=bob.id).update(suspended_at=None)
    assert (waiting(alice), summary(alice)) == ([("bob", "1")], (1, 1))


def test_a_last_post_that_became_unreadable_is_not_shown(alice: Person, bob: Person) -> None:
    post = bob.post("@alice hello")
    number = request_of(alice, bob)
    NotificationRequest.objects.filter(id=number).update(
        last_status=make_status(bob.user.account, visibility="private")
    )
    assert alice.api.get(f"{REQUESTS}/{number}").json()["last_status"] is None
    assert post


def test_full_pages_of_requests_link_to_the_next(alice: Person) -> None:
    for _ in range(3):
        make_status(make_account(), "@alice hello")
    work()
    answer = alice.api.get(REQUESTS, {"limit": 2})
    first, second = answer.json()
    assert re.findall(r'(\w+)=(\d+)>; rel="(\w+)"', answer.headers["Link"]) == [
        ("max_id", second["id"], "next"),
        ("min_id", first["id"], "prev"),
    ]
    rest = alice.api.get(REQUESTS, {"limit": 2, "max_id": second["id"]})
    assert (len(rest.json()), re.findall(r'rel="(\w+)"', rest.headers["Link"])) == (1, ["prev"])
    (adjacent,) = alice.api.get(REQUESTS, {"limit": 1, "min_id": rest.json()[0]["id"]}).json()
    assert adjacent["id"] == second["id"]


def test_delivering_many_costs_as_many_statements_as_two(alice: Person) -> None:
    def cost(count: int) -> int:
        senders = [make_remote() for _ in range(count)]
        for sender in senders:
            make_remote_status(sender, visibility="direct", mentions=[alice.user.account])
            make_favourite(sender, make_status(alice.user.account))
        work()
        waits = NotificationRequest.objects.filter(account_id=alice.id, from_account__in=senders)
        requests.accept_requests(account_id=int(alice.id), request_ids=list(waits.values_list("id", flat=True)))
        OutboxRow.objects.all().delete()
        events = [RequestAccepted(account_id=int(alice.id), from_account_id=sender.id) for sender in senders]
        with CaptureQueriesContext(connection) as caught:
            deliver_held(events)
        assert not Notification.objects.filter(account_id=alice.id, filtered=True).exists()
        OutboxRow.objects.all().delete()
        return len(caught)

    cost(1)
    assert cost(2) == cost(8)


def test_a_message_that_arrives_twice_is_held_once(alice: Person, bob: Person) -> None:
    bob.post("@alice hello")
    rows: Any = OutboxRow.objects.all()
    again = [(row.queue, row.key, row.subscriber, row.event, row.payload) for row in rows]
    work()
    for queue, key, subscriber, event, payload in again:
        OutboxRow.objects.create(queue=queue, key=key, subscriber=subscriber, event=event, payload=payload)
    assert waiting(alice) == [("bob", "1")]
    assert Notification.objects.filter(account_id=alice.id).count() == 1


def test_held_notifications_are_not_streamed_before_delivery(alice: Person, bob: Person) -> None:
    """When the notifications are delivered, the streams `user` and `user:notification` get one event (contract, behaviours
    section 16).
    """
    notified, conversations = channels.notifications(int(alice.id)), channels.direct(int(alice.id))
    with subscribed(notified, conversations) as received:
        bob.post("@alice one", visibility="direct")
        bob.post("@alice two")
        number = request_of(alice, bob)
    assert received == []
    with subscribed(notified, conversations) as received:
        alice.do(f"notifications/requests/{number}/accept")
        work()
    messages = [(name, Message.decode(data)) for name, data in received]
    assert [(message.event, message.payload) for name, message in messages if name == notified] == [
        ("notifications_merged", b"1")
    ]
    assert [message.event for name, message in messages if name == conversations] == ["conversation"]
    for stream in ("user", "user:notification"):
        opened = open_stream(
            stream,
            account_id=int(alice.id),
            token_id=1,
            scopes=frozenset({"read"}),
            tag=None,
            normalised_tag="",
            origins=(True, True),
        )
        assert notified in opened.channels
