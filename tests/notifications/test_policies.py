"""Tests of notification policies: delivered, held or refused (contract, behaviours section 13 and parameters section 5)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, Follow, Role, User
from accounts.models.account import ActorType
from notifications.models import Notification, NotificationPolicy
from notifications.models.policy import POLICY_COLUMNS
from notifications.services import event_handlers
from social.kernel import clock
from statuses.events import StatusFavourited, StatusPublished
from statuses.models import Favourite
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import follow, make_favourite, make_remote_status, make_status
from tests.notifications.people import Person
from tests.support.work import work

pytestmark = pytest.mark.django_db
V1, V2 = "/api/v1/notifications/policy", "/api/v2/notifications/policy"
DEFAULTS = {
    "for_not_following": "accept",
    "for_not_followers": "accept",
    "for_new_accounts": "accept",
    "for_private_mentions": "filter",
    "for_limited_accounts": "filter",
    "for_bots": "accept",
}
NO_REQUESTS = {"pending_requests_count": 0, "pending_notifications_count": 0}


def change(person: Person, **settings: str) -> dict[str, Any]:
    answer = person.api.patch(V2, settings)
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def made(person: Person) -> list[tuple[str, str, bool]]:
    """Return the type and sender of each notification, and whether it is held, newest first."""
    found = person.notifications(include_filtered="true")
    return [(item["type"], item["account"]["acct"], "filtered" in item) for item in found]


def test_a_policy_has_defaults_and_only_sent_settings_change(alice: Person, bob: Person) -> None:
    assert alice.api.get(V2).json() == {**DEFAULTS, "summary": NO_REQUESTS}
    assert not NotificationPolicy.objects.exists()
    changed = {**DEFAULTS, "for_bots": "drop", "summary": NO_REQUESTS}
    assert change(alice, for_bots="drop") == changed
    assert alice.api.put(V2, {"for_new_accounts": "filter"}).json() == {**changed, "for_new_accounts": "filter"}
    assert change(alice) == {**changed, "for_new_accounts": "filter"}
    assert bob.api.get(V2).json() == {**DEFAULTS, "summary": NO_REQUESTS}


def test_an_unknown_word_changes_nothing(alice: Person) -> None:
    for value in ("hold", "Accept", "x" * 10_000, ["accept"], {"a": "accept"}, 1, True):
        for name in POLICY_COLUMNS:
            refused = alice.api.patch(V2, {"for_new_accounts": "drop", name: value})
            assert refused.status_code == 422, (name, value, refused.content)
    assert alice.api.get(V2).json() == {**DEFAULTS, "summary": NO_REQUESTS}


def test_the_first_version_of_the_policy_only_filters_or_accepts(alice: Person) -> None:
    first = {
        "filter_not_following": False,
        "filter_not_followers": False,
        "filter_new_accounts": False,
        "filter_private_mentions": True,
        "filter_bots": False,
        "summary": NO_REQUESTS,
    }
    assert alice.api.get(V1).json() == first
    change(alice, for_not_followers="drop", for_limited_accounts="drop")
    assert alice.api.get(V1).json() == {**first, "filter_not_followers": True}, (
        "dropping also counts as filtering in the first version"
    )
    answer = alice.api.put(V1, {"filter_not_following": "true", "filter_private_mentions": "false", "filter_bots": 1})
    expected = {"filter_not_following": True, "filter_not_followers": True, "filter_private_mentions": False}
    assert answer.json() == first | expected | {"filter_bots": True}
    assert alice.api.get(V2).json() == {
        "for_not_following": "filter",
        "for_not_followers": "drop",
        "for_new_accounts": "accept",
        "for_private_mentions": "accept",
        "for_limited_accounts": "drop",
        "for_bots": "filter",
        "summary": NO_REQUESTS,
    }


def test_notifications_of_accounts_not_followed_are_held_or_dropped(alice: Person, bob: Person, carol: Person) -> None:
    follow(alice.user.account, carol.user.account)
    change(alice, for_not_following="filter")
    for person in (bob, carol):
        person.post("@alice hello")
    assert alice.types() == ["mention"], "held notifications are not listed"
    assert made(alice) == [("mention", "carol", False), ("mention", "bob", True)]
    change(alice, for_not_following="drop")
    for person in (bob, carol):
        person.post("@alice again")
    assert made(alice)[0] == ("mention", "carol", False)
    assert len(made(alice)) == 3


def test_a_follower_counts_after_three_days(alice: Person, bob: Person, carol: Person) -> None:
    """Only the sender's follow counts, not the recipient's follow of the sender."""
    dora = Person("dora")
    change(alice, for_not_followers="filter")
    follow(alice.user.account, dora.user.account)
    for person, days in ((bob, 2.9), (carol, 3.1)):
        follow(person.user.account, alice.user.account)
        created_at = clock.now() - timedelta(days=days)
        Follow.objects.filter(account=person.user.account).update(created_at=created_at)
    for person in (bob, carol, dora):
        person.post("@alice hello")
        work()
    assert made(alice) == [("mention", "dora", True), ("mention", "carol", False), ("mention", "bob", True)]


def test_an_account_is_new_for_thirty_days(alice: Person, bob: Person, carol: Person) -> None:
    dora = Person("dora")
    change(alice, for_new_accounts="filter")
    follow(alice.user.account, dora.user.account)
    for person, days in ((bob, 29.9), (carol, 30.1), (dora, 1)):
        Account.objects.filter(id=person.id).update(created_at=clock.now() - timedelta(days=days))
        person.post("@alice hello")
        work()
    assert made(alice) == [("mention", "dora", False), ("mention", "carol", False), ("mention", "bob", True)]


def test_notifications_of_bots_not_followed_can_be_held(alice: Person, bob: Person, carol: Person) -> None:
    change(alice, for_bots="filter")
    follow(alice.user.account, carol.user.account)
    for person in (bob, carol):
        assert person.api.patch("/api/v1/accounts/update_credentials", {"bot": "true"}).status_code == 200
        person.post("@alice beep")
        work()
    make_remote_status(make_remote("app", actor_type=ActorType.APPLICATION), mentions=[alice.user.account])
    assert made(alice) == [
        ("mention", "app@remote.example", True),
        ("mention", "carol", False),
        ("mention", "bob", True),
    ]


@pytest.mark.parametrize("local", [True, False], ids=["here", "elsewhere"])
def test_a_limited_sender_notifies_only_followers(alice: Person, local: bool) -> None:
    """Holding limited senders is the default, for all types of notifications (contract, behaviours section 18)."""
    bob = Person("bob").user.account if local else make_remote("bob")
    follow(make_account("fan"), bob)
    Account.objects.filter(id=bob.id).update(limited_at=clock.now())
    bob.refresh_from_db()

    def write() -> None:
        if local:
            make_status(bob, "@alice hello")
        else:
            make_remote_status(bob, mentions=[alice.user.account])
        work()

    write()
    make_favourite(bob, make_status(alice.user.account))
    assert alice.types() == []
    assert [(type, held) for type, _sender, held in made(alice)] == [("favourite", True), ("mention", True)]
    follow(alice.user.account, bob)
    write()
    assert alice.types() == ["mention"]


class TestPrivateMentions:
    """Private mentions by an account that the user does not follow are held, unless they reply to a message of the user."""

    def wrote(self, alice: Person, sender: Person, text: str = "@alice psst", **more: Any) -> bool:
        """Send a private mention, and return whether it is held."""
        post = sender.post(text, visibility="direct", **more)
        work()
        return Notification.objects.get(account_id=alice.id, status_id=post["id"]).filtered

    def test_private_mentions_by_strangers_are_held(self, alice: Person, bob: Person, carol: Person) -> None:
        follow(alice.user.account, carol.user.account)
        assert self.wrote(alice, bob) is True
        assert self.wrote(alice, carol) is False
        bob.post("@alice in public")
        assert alice.types() == ["mention", "mention"]

    def test_private_mentions_that_reply_to_ones_own_message_are_delivered(self, alice: Person, bob: Person) -> None:
        opening = alice.post("@bob a question", visibility="direct")
        answer = bob.post("@alice an answer", visibility="direct", in_reply_to_id=opening["id"])
        assert alice.types() == ["mention"]
        assert self.wrote(alice, bob, in_reply_to_id=answer["id"]) is False, (
            "deeper replies in the thread are delivered too"
        )

    def test_private_mentions_in_a_thread_addressed_to_somebody_else_are_held(
        self, alice: Person, bob: Person, carol: Person
    ) -> None:
        """Only the recipient of the first message has invited a reply (security row 22)."""
        opening = alice.post("@carol just you", visibility="direct")
        answer = carol.post("@alice @bob look", visibility="direct", in_reply_to_id=opening["id"])
        assert self.wrote(alice, bob, in_reply_to_id=answer["id"]) is True

    def test_private_mentions_that_reply_to_a_public_post_are_held(self, alice: Person, bob: Person) -> None:
        public = alice.post("@bob a question to all")
        assert self.wrote(alice, bob, in_reply_to_id=public["id"]) is True

    def test_private_mentions_that_reply_to_a_message_of_the_sender_are_held(self, alice: Person, bob: Person) -> None:
        """The recipient has not invited a reply if the sender started the thread."""
        opening = bob.post("@alice @bob hello", visibility="direct")
        assert self.wrote(alice, bob, in_reply_to_id=opening["id"]) is True

    def test_private_mentions_by_staff_are_delivered(self, alice: Person, bob: Person) -> None:
        User.objects.filter(id=bob.user.id).update(role=Role.objects.get(name__iexact="moderator"))
        assert self.wrote(alice, bob) is False

    def test_can_be_let_through_or_dropped(self, alice: Person, bob: Person) -> None:
        change(alice, for_private_mentions="accept")
        assert self.wrote(alice, bob) is False
        change(alice, for_private_mentions="drop")
        bob.post("@alice dropped", visibility="direct")
        assert alice.types() == ["mention"]

    def test_open_a_conversation_only_when_they_arrive(self, alice: Person, bob: Person) -> None:
        bob.post("@alice psst", visibility="direct")
        work()
        assert alice.api.get("/api/v1/conversations").json() == []
        assert len(bob.api.get("/api/v1/conversations").json()) == 1


def test_notifications_about_ones_own_account_are_never_held(alice: Person, bob: Person) -> None:
    change(alice, **dict.fromkeys(POLICY_COLUMNS, "drop"))
    poll = bob.post("Which?", poll={"options": ["a", "b"], "expires_in": 300})
    alice.do(f"polls/{poll['poll']['id']}/votes", {"choices": ["0"]})
    alice.do(f"statuses/{poll['id']}/reblog")
    bob.api.put(f"/api/v1/statuses/{poll['id']}", {"status": "Which one?"})
    bob.do(f"accounts/{alice.id}/follow")
    assert alice.types() == ["update"]


def test_held_notifications_are_in_no_group(alice: Person, bob: Person) -> None:
    change(alice, for_not_following="filter")
    make_favourite(bob.user.account, make_status(alice.user.account))
    (found,) = alice.notifications(include_filtered="true")
    assert (found["type"], found["filtered"], found["group_key"]) == ("favourite", True, f"ungrouped-{found['id']}")


@pytest.mark.parametrize("policy", ["default", "all held"])
def test_a_post_with_many_mentions_costs_as_many_statements_as_one_with_two(policy: str) -> None:
    """The number of queries does not depend on the recipients' policies either."""
    author = make_remote()

    def cost(count: int) -> int:
        people = [make_account() for _ in range(count)]
        if policy == "all held":
            held = dict.fromkeys(POLICY_COLUMNS, "filter")
            NotificationPolicy.objects.bulk_create(NotificationPolicy(account=one, **held) for one in people)
        post = make_remote_status(author, mentions=people, visibility="direct")
        event = StatusPublished(status_id=post.id, account_id=author.id, local=False, mentions=True)
        with CaptureQueriesContext(connection) as caught:
            event_handlers.notify_mentioned([event])
        assert Notification.objects.filter(status_id=post.id, filtered=True).count() == count
        return len(caught)

    cost(1)  # the first query of a connection prepares the statement
    assert cost(2) == cost(50) <= 15


def test_many_favourites_cost_as_many_statements_as_two(alice: Person) -> None:
    """A worker handles 200 events at a time, even if ten thousand are queued."""
    post = make_status(alice.user.account)
    rows = Favourite.objects.bulk_create(Favourite(account=make_remote(), status=post) for _ in range(202))
    events = [
        StatusFavourited(favourite_id=row.id, account_id=row.account_id, status_id=post.id, local=True) for row in rows
    ]

    def cost(some: list[StatusFavourited]) -> int:
        with CaptureQueriesContext(connection) as caught:
            event_handlers.notify_favourited(some)
        return len(caught)

    assert cost(events[:2]) == cost(events[2:])
    assert Notification.objects.filter(account_id=alice.id).count() == 202
