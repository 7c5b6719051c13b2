"""Tests of outgoing activities: each is sent once, in order, to exactly the servers concerned (contract, sections 6, 12)."""

import json
import re
from datetime import timedelta

import pytest
import time_machine

from accounts.models import Account, Block, FollowRequest
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account, unblock_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from accounts.services.profiles import ProfileChange, update_profile
from accounts.services.sanctions import suspend_account, unsuspend_account
from federation.models import Delivery, OutboundActivity
from federation.outbound.delivering import DELIVERIES
from federation.remote.actors import fetch_actor
from federation.signatures import cavage
from federation.signatures.message import Message
from social.kernel import clock
from statuses.models import Status
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status, unfavourite_status, unreblog_status
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import follow, make_reblog, make_remote_status, make_status
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db
PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


def _answer(account: Account, status: Status) -> Status:
    return make_remote_status(account, parent=status)


def inboxes() -> set[str]:
    return set(Delivery.objects.values_list("inbox_url", flat=True))


def queue_deliveries() -> None:
    """Run all jobs, which queue deliveries; none of these arrives, because no server exists under `.example`."""
    work()


class TestAudience:
    """Tests of which servers get an activity. They check the queued deliveries, because no server exists at the reserved
    domains.
    """

    @pytest.fixture
    def people(self, alice: Account) -> dict[str, Account]:
        found = {
            "follower": make_remote("follower", "one.example"),
            "same_server": make_remote("same_server", "one.example"),
            "lonely": make_remote("lonely", "two.example", shared_inbox_url=""),
            "mentioned": make_remote("mentioned", "three.example"),
            "stranger": make_remote("stranger", "four.example"),
            "suspended": make_remote("suspended", "five.example", suspended_at=clock.now()),
        }
        for name in ("follower", "same_server", "lonely", "suspended"):
            follow(found[name], alice)
        return found

    FOLLOWERS = ("https://one.example/inbox", "https://two.example/users/lonely/inbox")
    MENTIONED = "https://three.example/inbox"

    @pytest.mark.parametrize(
        ("visibility", "expected"),
        [
            ("public", {*FOLLOWERS, MENTIONED}),
            ("unlisted", {*FOLLOWERS, MENTIONED}),
            ("private", {*FOLLOWERS, MENTIONED}),
            ("direct", {MENTIONED}),
        ],
    )
    def test_a_post_is_delivered_once_to_each_addressed_server(
        self, alice: Account, people: dict[str, Account], visibility: str, expected: set[str]
    ) -> None:
        make_status(alice, "hello @mentioned@three.example", visibility=visibility)
        queue_deliveries()
        assert inboxes() == expected
        assert OutboundActivity.objects.count() == 1

    @pytest.mark.parametrize(("visibility", "place"), [("public", "cc"), ("private", "cc"), ("direct", "to")])
    def test_a_group_that_is_mentioned_gets_a_post_with_its_followers(
        self, alice: Account, people: dict[str, Account], visibility: str, place: str
    ) -> None:  # contract, federation section 6
        group = make_remote("group", "five.example", actor_type="Group")
        make_status(alice, f"@group@five.example {people['mentioned'].acct}", visibility=visibility)
        queue_deliveries()
        note = json.loads(OutboundActivity.objects.get().body)["object"]
        assert [uri for uri in note[place] if "five.example" in uri] == [group.uri, group.followers_url]

    @pytest.mark.parametrize("visibility", ["public", "unlisted", "private", "direct"])
    def test_a_post_of_a_limited_author_is_addressed_only_to_mentioned_followers_and_requesters(
        self, alice: Account, people: dict[str, Account], visibility: str
    ) -> None:  # contract, federation section 6
        FollowRequest.objects.create(account=people["mentioned"], target=alice)
        status = make_status(
            alice,
            "@stranger@four.example @mentioned@three.example @follower@one.example",
            visibility=visibility,
            reply_to=make_remote_status(people["stranger"]),
        )
        # Posts from before the limit are delivered to fewer servers too, although their visibility does not change.
        Account.objects.filter(id=alice.id).update(limited_at=clock.now())
        queue_deliveries()
        followers = {self.FOLLOWERS[0]} if visibility == "direct" else set(self.FOLLOWERS)
        assert inboxes() == {*followers, self.MENTIONED}
        note = json.loads(OutboundActivity.objects.get().body)["object"]
        near = [people["mentioned"].uri, people["follower"].uri]
        to, cc = {
            "public": ([f"{alice.uri}/followers"], [PUBLIC, *near]),
            "unlisted": ([f"{alice.uri}/followers"], [PUBLIC, *near]),
            "private": ([f"{alice.uri}/followers"], near),
            "direct": (near, []),
        }[visibility]
        assert (sorted(note["to"]), sorted(note["cc"])) == (sorted(to), sorted(cc))
        assert len([item for item in note["tag"] if item["type"] == "Mention"]) == 3
        delete_status(status_id=status.id)
        queue_deliveries()
        assert "https://four.example/inbox" in inboxes(), "a deletion reaches everybody whom the post may have reached"

    def test_a_boost_of_a_limited_author_goes_out_as_unlisted(self, alice: Account, people: dict[str, Account]) -> None:
        make_reblog(alice, make_remote_status(people["stranger"]))
        Account.objects.filter(id=alice.id).update(limited_at=clock.now())
        queue_deliveries()
        assert inboxes() == {*self.FOLLOWERS, "https://four.example/inbox"}
        document = json.loads(OutboundActivity.objects.get().body)
        assert (document["to"], document["cc"]) == ([f"{alice.uri}/followers"], [PUBLIC, people["stranger"].uri])

    def test_a_public_reply_is_sent_to_the_author_of_its_parent_too(
        self, alice: Account, people: dict[str, Account]
    ) -> None:
        status = make_remote_status(people["stranger"])
        make_status(alice, "indeed", reply_to=status)
        queue_deliveries()
        assert inboxes() == {*self.FOLLOWERS, "https://four.example/inbox"}

    def test_a_boost_goes_to_followers_and_the_author(self, alice: Account, people: dict[str, Account]) -> None:
        make_reblog(alice, make_remote_status(people["stranger"]))
        queue_deliveries()
        assert inboxes() == {*self.FOLLOWERS, "https://four.example/inbox"}
        assert OutboundActivity.objects.get().type == "Announce"

    def test_actions_of_remote_accounts_are_not_delivered(self, alice: Account, people: dict[str, Account]) -> None:
        status = make_remote_status(people["stranger"])
        make_reblog(people["follower"], status)
        favourite_status(account_id=people["follower"].id, status=status)
        delete_status(status_id=status.id)
        queue_deliveries()
        assert not Delivery.objects.exists()

    def test_a_deletion_drops_waiting_deliveries_and_reaches_every_server_that_may_have_the_post(
        self, alice: Account, people: dict[str, Account]
    ) -> None:
        for touch in (make_reblog, _answer):
            status = make_status(alice, "oops")
            touch(people["stranger"], status)
            queue_deliveries()
            delete_status(status_id=status.id)
            queue_deliveries()
            assert set(OutboundActivity.objects.values_list("type", flat=True)) == {"Delete"}
            assert inboxes() == {*self.FOLLOWERS, "https://four.example/inbox"}
            OutboundActivity.objects.all().delete()

    def test_a_post_deleted_before_its_delivery_is_never_sent(self, alice: Account, people: dict[str, Account]) -> None:
        status = make_status(alice, "oops")
        delete_status(status_id=status.id)
        queue_deliveries()
        assert list(OutboundActivity.objects.values_list("type", flat=True)) == ["Delete"]

    def test_local_recipients_cause_no_delivery(self, alice: Account) -> None:
        follow(make_account("bob"), alice)
        make_status(alice, "hello @bob")
        queue_deliveries()
        assert not OutboundActivity.objects.exists()


class TestActivities:
    def test_activities_are_sent_for_each_step_of_a_follow(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        account = fetch_actor(zoe.uri)
        for _round in range(2):
            follow_account(account=alice, target=account, change=FollowChange())
            work()
            unfollow_account(account=alice, target=account)
            work()
            Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
            DELIVERIES.run()
        first, undo, second, _last = elsewhere.delivered()
        assert [item["type"] for item in elsewhere.delivered()] == ["Follow", "Undo", "Follow", "Undo"]
        assert (undo["object"]["id"], undo["id"]) == (first["id"], f"{first['id']}/undo")
        assert first["id"] != second["id"]

    def test_activities_are_sent_for_each_step_of_a_favourite_and_a_boost(
        self, elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
    ) -> None:
        status = make_remote_status(zoe_here, uri=f"{zoe.uri}/statuses/1")
        favourite_status(account_id=alice.id, status=status)
        boost = make_reblog(alice, status)
        work()
        unfavourite_status(account_id=alice.id, status_id=status.id)
        unreblog_status(account_id=alice.id, status_id=status.id)
        work()
        sent = elsewhere.delivered()
        assert sorted(item["type"] for item in sent) == ["Announce", "Like", "Undo", "Undo"]
        by_type = {item["type"]: item for item in sent}
        assert by_type["Like"]["object"] == by_type["Announce"]["object"] == status.uri
        assert by_type["Announce"]["id"] == f"{alice.uri}/statuses/{boost.id}/activity"
        assert sorted(item["object"]["type"] for item in sent if item["type"] == "Undo") == ["Announce", "Like"]

    def test_activities_are_sent_for_each_step_of_a_block(
        self, elsewhere: RemoteServer, zoe_here: Account, alice: Account
    ) -> None:
        block_account(account=alice, target=zoe_here)
        work()
        unblock_account(account=alice, target=zoe_here)
        work()
        sent = elsewhere.delivered()
        assert [item["type"] for item in sent] == ["Reject", "Block", "Undo"]
        assert sent[2]["object"]["id"] == sent[1]["id"]

    def test_ids_of_follows_and_blocks_reveal_no_counts(
        self, elsewhere: RemoteServer, zoe_here: Account, alice: Account
    ) -> None:
        follow_account(account=alice, target=zoe_here, change=FollowChange())
        work()
        block_account(account=alice, target=zoe_here)
        work()
        Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
        DELIVERIES.run()
        ids = [item["id"] for item in elsewhere.delivered("Follow", "Block")]
        shapes = [r"http://social\.localhost/[0-9a-f-]{36}", rf"{re.escape(alice.uri)}#blocks/[0-9a-f-]{{36}}"]
        assert [re.fullmatch(shape, uri) is not None for shape, uri in zip(shapes, ids, strict=True)] == [True, True]

    def test_follows_and_blocks_sent_with_numeric_ids_are_undone_with_the_same_ids(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        account = fetch_actor(zoe.uri)
        follow(alice, account, uri=f"{alice.uri}#follows/7")
        blocked = Block.objects.create(account=alice, target=account)
        unblock_account(account=alice, target=account)
        unfollow_account(account=alice, target=account)
        work()
        Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
        DELIVERIES.run()
        undone = {item["object"]["id"] for item in elsewhere.delivered("Undo")}
        assert undone == {f"{alice.uri}#follows/7", f"{alice.uri}#blocks/{blocked.id}"}

    def test_a_changed_profile_is_sent_to_followers(
        self, elsewhere: RemoteServer, zoe_here: Account, alice: Account
    ) -> None:
        update_profile(user=alice.user, change=ProfileChange(display_name="Al"))
        work()
        (sent,) = elsewhere.delivered()
        assert (sent["type"], sent["object"]["name"], "@context" in sent["object"]) == ("Update", "Al", False)

    def test_every_delivery_is_signed_by_its_author(
        self, elsewhere: RemoteServer, zoe_here: Account, alice: Account
    ) -> None:
        make_status(alice, "hello")
        work()
        (asked,) = [asked for asked in elsewhere.asked if asked.method == "POST"]
        assert (asked.path, asked.headers["content-type"]) == ("/inbox", "application/activity+json")
        signature = cavage.parse(asked.headers["signature"])
        assert signature.key_id == f"{alice.uri}#main-key"
        assert {"(request-target)", "host", "date", "digest", "content-type"} <= set(signature.headers)
        message = Message("POST", asked.path, asked.headers, asked.body)
        cavage.verify(signature, message, alice.key_pair.public_key, clock.now())
        assert not Delivery.objects.exists()
        assert not OutboundActivity.objects.exists()


def test_a_suspension_and_its_end_are_sent_to_followers_and_recently_mentioned_accounts(alice: Account) -> None:
    """Contract, federation section 12."""
    follow(make_remote("follower", "one.example"), alice)
    make_remote("mentioned", "two.example")
    make_status(alice, "hi @mentioned@two.example")
    work()
    first, second = "https://one.example/inbox", "https://two.example/inbox"
    for act, days, reached in ((suspend_account, 0, {first, second}), (unsuspend_account, 3, {first})):
        OutboundActivity.objects.all().delete()
        with time_machine.travel(clock.now() + timedelta(days=days), tick=False):
            act(by=OPERATOR, account=alice)
            work()
        updates = Delivery.objects.filter(activity__type="Update")
        assert set(updates.values_list("inbox_url", flat=True)) == reached
