"""Tests of notifications: one for each event, and none that the user does not want (SEED-004, 071-073, 144, 145)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.events import AccountFollowed
from accounts.models import Follow, FollowRequest, Role, User
from notifications.models import Notification
from notifications.services import event_handlers
from notifications.services.event_handlers import notify_followed
from social.kernel import redis
from statuses.events import StatusPublished
from tests.factories.accounts import make_user
from tests.notifications.people import Person
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_seed_026_followers_who_asked_for_it_are_notified_of_posts(alice: Person, bob: Person, carol: Person) -> None:
    alice.do(f"accounts/{bob.id}/follow", {"notify": True})
    carol.do(f"accounts/{bob.id}/follow")
    post = bob.post("hello")
    bob.post("hello yourself", in_reply_to_id=post["id"])
    bob.post("@carol an answer", in_reply_to_id=carol.post("a question")["id"])
    bob.do(f"statuses/{carol.post('boosted')['id']}/reblog")
    bob.post("for nobody", visibility="direct")
    notified = alice.notifications()
    assert [(item["type"], item["account"]["acct"]) for item in notified] == [("status", "bob"), ("status", "bob")]
    assert notified[1]["status"]["id"] == post["id"]
    assert "status" not in carol.types()
    alice.do(f"accounts/{bob.id}/follow", {"notify": False})
    bob.post("not any more")
    assert len(alice.notifications()) == 2


@pytest.mark.parametrize("notifications", [True, False])
def test_an_account_that_mutes_an_author_is_not_notified_of_their_posts(
    alice: Person, bob: Person, notifications: bool
) -> None:
    alice.do(f"accounts/{bob.id}/follow", {"notify": True})
    alice.do(f"accounts/{bob.id}/mute", {"notifications": notifications})
    bob.post("hello")
    assert alice.types() == []
    alice.do(f"accounts/{bob.id}/unmute")
    bob.post("hello again")
    assert alice.types() == ["status"]


def test_followers_are_notified_in_steps(
    alice: Person, bob: Person, carol: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_handlers, "BATCH_SIZE", 1)
    for person in (alice, carol):
        person.do(f"accounts/{bob.id}/follow", {"notify": True, "languages": ["en"]})
    bob.post("hello", language="en")
    bob.post("hallo", language="de")
    assert (alice.types(), carol.types()) == (["status"], ["status"])


def test_a_types_parameter_that_is_not_a_list_is_ignored(alice: Person, bob: Person) -> None:
    bob.do(f"accounts/{alice.id}/follow")
    bob.post("hi @alice")
    assert alice.types(**{"types[]": "mention"}) == ["mention"]
    assert alice.types(types="mention") == ["mention", "follow"]


def test_each_interaction_notifies_once(alice: Person, bob: Person) -> None:
    post = alice.post("hello")
    bob.do(f"accounts/{alice.id}/follow")
    bob.do(f"statuses/{post['id']}/favourite")
    bob.do(f"statuses/{post['id']}/favourite")
    bob.do(f"statuses/{post['id']}/reblog")
    bob.post("hi @alice")
    notified = alice.notifications()
    assert [item["type"] for item in notified] == ["mention", "reblog", "favourite", "follow"]
    assert {item["account"]["acct"] for item in notified} == {"bob"}
    assert notified[2]["status"]["id"] == post["id"]
    assert notified[1]["status"]["id"] == post["id"]
    assert "status" not in notified[3]
    assert all(isinstance(item["id"], str) and item["group_key"] for item in notified)
    assert bob.types() == []


def test_unfollowing_keeps_the_notification_of_another_request_with_the_same_number(
    alice: Person, bob: Person, carol: Person
) -> None:
    """Follows and follow requests are in different tables, so their numbers may be equal."""
    dave = Person("dave")
    carol.api.patch("/api/v1/accounts/update_credentials", {"locked": "true"})
    bob.do(f"accounts/{alice.id}/follow")
    dave.do(f"accounts/{carol.id}/follow")
    assert carol.types() == ["follow_request"]
    Follow.objects.update(id=FollowRequest.objects.get().id)
    bob.do(f"accounts/{alice.id}/unfollow")
    assert carol.types() == ["follow_request"]


def test_a_local_post_with_many_mentions_costs_as_many_queries_as_one_with_two(alice: Person) -> None:
    def cost(count: int) -> int:
        people = [make_user(f"reader{count}x{number}") for number in range(count)]
        post = alice.post(" ".join(f"@{user.account.username}" for user in people))
        event = StatusPublished(status_id=int(post["id"]), account_id=alice.id, local=True, mentions=True)
        with CaptureQueriesContext(connection) as caught:
            event_handlers.notify_mentioned([event])
        assert Notification.objects.filter(status_id=event.status_id).count() == count
        return len(caught)

    cost(1)  # the first query of a connection prepares the statement
    assert cost(2) == cost(8)


def test_a_repeated_event_notifies_once(alice: Person, bob: Person) -> None:
    bob.do(f"accounts/{alice.id}/follow")
    assert alice.types() == ["follow"]
    follow = Follow.objects.get()
    notify_followed([AccountFollowed(account_id=bob.id, target_id=alice.id, follow_id=follow.id)])
    assert alice.types() == ["follow"]


def test_undoing_an_action_deletes_its_notification(alice: Person, bob: Person) -> None:
    post = alice.post("hello")
    for act in ("favourite", "reblog"):
        bob.do(f"statuses/{post['id']}/{act}")
    bob.do(f"accounts/{alice.id}/follow")
    assert len(alice.notifications()) == 3
    for act in ("unfavourite", "unreblog"):
        bob.do(f"statuses/{post['id']}/{act}")
    bob.do(f"accounts/{alice.id}/unfollow")
    assert alice.notifications() == []


def test_notifications_of_a_deleted_post_are_deleted(alice: Person, bob: Person) -> None:
    post = bob.post("hi @alice")
    assert alice.types() == ["mention"]
    bob.api.delete(f"/api/v1/statuses/{post['id']}")
    assert alice.notifications() == []
    assert not Notification.objects.exists()


def test_a_mute_stops_notifications_only_if_it_includes_them(alice: Person, bob: Person) -> None:
    bob.post("one @alice")
    alice.do(f"accounts/{bob.id}/mute")
    bob.post("two @alice")
    assert alice.notifications() == []
    alice.do(f"accounts/{bob.id}/mute", {"notifications": False})
    bob.post("three @alice")
    assert alice.types() == ["mention"]


def test_a_block_removes_old_notifications_both_ways_and_stops_new_ones(alice: Person, bob: Person) -> None:
    bob.post("one @alice")
    alice.post("two @bob")
    bob.do(f"statuses/{alice.post('of alice')['id']}/favourite")
    alice.do(f"statuses/{bob.post('of bob')['id']}/favourite")
    assert (alice.types(), bob.types()) == (["favourite", "mention"], ["favourite", "mention"])
    alice.do(f"accounts/{bob.id}/block")
    bob.post("three @alice")
    assert alice.notifications() == []
    assert bob.notifications() == []
    alice.do(f"accounts/{bob.id}/unblock")
    assert (alice.notifications(), bob.notifications()) == ([], []), "the notifications are deleted, not hidden"


@pytest.mark.parametrize("how", ["block", "mute"])
def test_posts_that_mention_or_answer_a_blocked_or_muted_account_do_not_notify(
    alice: Person, bob: Person, how: str
) -> None:
    unwanted = Person("unwanted")
    post = unwanted.post("hello")
    alice.do(f"accounts/{unwanted.id}/{how}")
    bob.post("@alice look what @unwanted says")
    bob.post("@alice he is right", in_reply_to_id=post["id"])
    assert alice.notifications() == []
    assert unwanted.types() == ["mention"], "an unwanted account is still notified"
    bob.post("@alice hello")
    assert alice.types() == ["mention"]


def test_a_mute_that_leaves_notifications_on_hides_no_posts_that_mention_the_muted(
    alice: Person, bob: Person, carol: Person
) -> None:
    alice.do(f"accounts/{carol.id}/mute", {"notifications": False})
    bob.post("@alice and @carol")
    assert alice.types() == ["mention"]


def test_posts_of_staff_notify_even_if_they_mention_a_blocked_account(alice: Person, bob: Person) -> None:
    unwanted = Person("unwanted")
    alice.do(f"accounts/{unwanted.id}/block")
    User.objects.filter(id=bob.user.id).update(role=Role.objects.get(name__iexact="moderator"))
    bob.post("@alice about @unwanted")
    assert alice.types() == ["mention"]


def test_a_locked_account_is_notified_of_requests(alice: Person, bob: Person) -> None:
    alice.api.patch("/api/v1/accounts/update_credentials", {"locked": True})
    bob.do(f"accounts/{alice.id}/follow")
    assert alice.types() == ["follow_request"]


def test_an_accepted_request_is_notified_as_a_follow_and_no_more_as_a_request(
    alice: Person, bob: Person, carol: Person
) -> None:
    alice.api.patch("/api/v1/accounts/update_credentials", {"locked": True})
    for other in (bob, carol):
        other.do(f"accounts/{alice.id}/follow")
    assert alice.types() == ["follow_request", "follow_request"]
    alice.api.patch("/api/v1/accounts/update_credentials", {"locked": False})
    assert alice.types() == ["follow", "follow"]


def test_notifications_can_be_listed_by_type_and_account_and_singly(alice: Person, bob: Person, carol: Person) -> None:
    bob.do(f"accounts/{alice.id}/follow")
    carol.post("hi @alice")
    assert alice.types(**{"types[]": "follow"}) == ["follow"]
    assert alice.types(**{"exclude_types[]": "follow"}) == ["mention"]
    assert [item["account"]["acct"] for item in alice.notifications(account_id=str(carol.id))] == ["carol"]
    assert alice.notifications(account_id="nonsense") == []
    one = alice.notifications()[0]
    assert alice.api.get(f"/api/v1/notifications/{one['id']}").json() == one
    assert alice.do(f"notifications/{one['id']}/dismiss") == {}
    for gone in (f"notifications/{one['id']}/dismiss", "notifications/abc/dismiss"):
        assert alice.api.post(f"/api/v1/{gone}").status_code == 404
    assert alice.api.get(f"/api/v1/notifications/{one['id']}").status_code == 404
    assert alice.do("notifications/clear") == {}
    assert alice.notifications() == []


def test_notifications_of_others_cannot_be_read_or_dismissed(alice: Person, bob: Person) -> None:
    bob.do(f"accounts/{alice.id}/follow")
    one = alice.notifications()[0]
    assert bob.api.get(f"/api/v1/notifications/{one['id']}").status_code == 404
    assert bob.api.post(f"/api/v1/notifications/{one['id']}/dismiss").status_code == 404
    assert len(alice.notifications()) == 1


def test_a_notification_about_a_post_that_became_unreadable_is_hidden(alice: Person, bob: Person) -> None:
    alice.do(f"accounts/{bob.id}/follow", {"notify": True})
    bob.post("for everybody")
    bob.post("for followers", visibility="private")
    private, public = alice.notifications()
    alice.do(f"accounts/{bob.id}/unfollow")
    assert [item["id"] for item in alice.notifications()] == [public["id"]]
    assert alice.api.get(f"/api/v1/notifications/{private['id']}").status_code == 404
    assert Notification.objects.filter(id=private["id"]).exists(), "the notification is hidden, not deleted"


def test_pages_lead_to_each_notification_once(alice: Person, bob: Person) -> None:
    for number in range(5):
        bob.post(f"{number} @alice")
    work()
    seen, path = [], "/api/v1/notifications?limit=2&types[]=mention"
    while path:
        answer = alice.api.get(path)
        seen += [item["id"] for item in answer.json()]
        link = answer.headers.get("Link", "")
        path = link.split(">")[0].removeprefix("<").replace("https://social.localhost", "") if link else ""
        path = path.replace("http://social.localhost", "")
    assert len(seen) == len(set(seen)) == 5


@pytest.mark.parametrize("lost", [False, True], ids=["bodies kept", "bodies lost"])
def test_a_page_costs_the_same_number_of_queries_whatever_its_size(alice: Person, bob: Person, lost: bool) -> None:
    def queries(limit: int) -> int:
        if lost and (kept := redis.client("cache").keys("cache:fragment:*")):
            redis.client("cache").delete(*kept)
        with CaptureQueriesContext(connection) as caught:
            answer = alice.api.get("/api/v1/notifications", {"limit": limit})
        assert len(answer.json()) == limit
        return len(caught)

    others = [Person(f"other{number}") for number in range(20)]
    for other in others:
        other.do(f"accounts/{alice.id}/follow")
    work()
    for other in others:
        other.post("hello @alice")
    work()
    alice.notifications(limit=40)
    assert queries(2) == queries(40) <= 8
