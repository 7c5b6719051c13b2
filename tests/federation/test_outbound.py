"""What happens here is sent to the servers it concerns, once each, in order, and to no other (contract, sections 6, 12)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_account, unblock_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from accounts.services.profiles import ProfileChange, update_profile
from federation.models import Delivery, Host, OutboundActivity
from federation.outbound.claims import Result, claim, record
from federation.outbound.delivering import deliver_due
from federation.outbound.queueing import enqueue, retry
from federation.outbound.retrying import ATTEMPTS, Verdict, host_pause, next_attempt, verdict_on
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


@pytest.fixture
def zoe_here(zoe: RemotePerson, alice: Account) -> Account:
    """Zoe as she is known here; she follows Alice."""
    account = fetch_actor(zoe.uri)
    follow(account, alice, uri=f"{zoe.uri}#follows/1")
    return account


def _answer(account: Account, status: Status) -> Status:
    return make_remote_status(account, parent=status)


def inboxes() -> set[str]:
    return set(Delivery.objects.values_list("inbox_url", flat=True))


def queue_deliveries() -> None:
    """Run the reactions, which queue deliveries; none arrives, for no server answers at `.example`."""
    work()


class TestAudience:
    """Domains of the reserved kind: nothing is sent, the rows are looked at."""

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
    def test_a_post_goes_where_it_is_addressed_once_per_server(
        self, alice: Account, people: dict[str, Account], visibility: str, expected: set[str]
    ) -> None:
        make_status(alice, "hello @mentioned@three.example", visibility=visibility)
        queue_deliveries()
        assert inboxes() == expected
        assert OutboundActivity.objects.count() == 1

    def test_a_public_answer_goes_to_the_author_it_answers_too(
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

    def test_what_remote_people_do_is_delivered_to_nobody(self, alice: Account, people: dict[str, Account]) -> None:
        status = make_remote_status(people["stranger"])
        make_reblog(people["follower"], status)
        favourite_status(account_id=people["follower"].id, status=status)
        delete_status(status_id=status.id)
        queue_deliveries()
        assert not Delivery.objects.exists()

    def test_a_deletion_drops_what_waits_and_reaches_whoever_may_have_it(
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
    def test_the_life_of_a_follow(self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
        account = fetch_actor(zoe.uri)
        for _round in range(2):
            follow_account(account=alice, target=account, change=FollowChange())
            work()
            unfollow_account(account=alice, target=account)
            work()
            Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
            deliver_due()
        first, undo, second, _last = elsewhere.delivered()
        assert [item["type"] for item in elsewhere.delivered()] == ["Follow", "Undo", "Follow", "Undo"]
        assert (undo["object"]["id"], undo["id"]) == (first["id"], f"{first['id']}/undo")
        assert first["id"] != second["id"]

    def test_the_life_of_a_favourite_and_a_boost(
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

    def test_the_life_of_a_block(self, elsewhere: RemoteServer, zoe_here: Account, alice: Account) -> None:
        block_account(account=alice, target=zoe_here)
        work()
        unblock_account(account=alice, target=zoe_here)
        work()
        sent = elsewhere.delivered()
        assert [item["type"] for item in sent] == ["Reject", "Block", "Undo"]
        assert sent[2]["object"]["id"] == sent[1]["id"]

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


class TestDelivering:
    @pytest.fixture
    def post_now(self, zoe_here: Account, alice: Account) -> Any:
        """Puts a numbered activity about a key on the way to Zoe."""

        def put(number: int, key: str = "status:1", inbox: str = zoe_here.shared_inbox_url, **more: Any) -> None:
            document = {"id": f"{alice.uri}#{number}", "type": "Note", "number": number}
            enqueue(account=alice, document=document, inboxes=[inbox], key=key, **more)

        return put

    def numbers(self, elsewhere: RemoteServer) -> list[int]:
        return [item["number"] for item in elsewhere.delivered()]

    def test_what_is_about_one_thing_arrives_in_order(self, elsewhere: RemoteServer, post_now: Any) -> None:
        for number in range(12):
            post_now(number, key=f"status:{number % 2}")
        deliver_due()
        numbers = self.numbers(elsewhere)
        assert [number for number in numbers if number % 2] == [1, 3, 5, 7, 9, 11]
        assert [number for number in numbers if not number % 2] == [0, 2, 4, 6, 8, 10]
        assert not Delivery.objects.exists()

    def test_a_later_one_waits_for_an_earlier_one_that_failed(self, elsewhere: RemoteServer, post_now: Any) -> None:
        elsewhere.inbox_status = 503
        post_now(1)
        post_now(2)
        deliver_due()
        elsewhere.inbox_status = 202
        Host.objects.update(failures=0, retry_at=clock.now())
        Delivery.objects.filter(id=Delivery.objects.latest("id").id).update(due_at=clock.now())
        deliver_due()
        assert self.numbers(elsewhere) == [1]
        Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
        deliver_due()
        assert self.numbers(elsewhere) == [1, 1, 2]

    @pytest.mark.parametrize(
        ("status", "given_up", "host_blamed"),
        [
            (400, True, False),
            (410, True, False),
            (501, True, False),
            (401, False, False),
            (422, False, False),
            (429, False, False),
            (500, False, True),
            (302, False, True),
        ],
    )
    def test_what_an_answer_means(
        self, elsewhere: RemoteServer, post_now: Any, status: int, given_up: bool, host_blamed: bool
    ) -> None:
        elsewhere.inbox_status = status
        post_now(1)
        deliver_due()
        delivery = Delivery.objects.get()
        assert (delivery.dead_at is not None, delivery.attempts) == (given_up, 1)
        assert delivery.last_error.startswith(str(status))
        assert Host.objects.filter(name=elsewhere.domain, failures__gt=0).exists() == host_blamed
        assert delivery.claimed_until is None

    def test_a_dead_host_holds_up_nobody_and_is_probed_by_one_request(
        self, elsewhere: RemoteServer, post_now: Any, alice: Account
    ) -> None:
        with RemoteServer().running() as other:
            dead = other.url
        for number in range(10):
            post_now(number, key=f"status:{number}", inbox=f"{dead}/inbox")
            post_now(100 + number, key=f"status:{number}")
        deliver_due()
        assert sorted(self.numbers(elsewhere)) == list(range(100, 110))
        host = Host.objects.get(failures__gt=0)
        assert (host.failures, host.retry_at > clock.now()) == (1, True)
        assert claim(10).by_host == {}
        Host.objects.update(retry_at=clock.now())
        Delivery.objects.update(due_at=clock.now())
        assert [len(rows) for rows in claim(10).by_host.values()] == [1]

    def test_who_dies_leaves_deliveries_that_are_due_again(self, elsewhere: RemoteServer, post_now: Any) -> None:
        post_now(1)
        held = claim(10)
        assert claim(10).by_host == {}
        Delivery.objects.update(claimed_until=clock.now() - timedelta(seconds=1))
        again = claim(10)
        (rows,) = again.by_host.values()
        for verdict in (Verdict.FAILED, Verdict.ARRIVED):
            record(held.token, [Result(rows[0], verdict)])
        assert Delivery.objects.count() == 1, "the first holder has nothing to say any more"
        assert not Host.objects.exists(), "nor of the host"
        record(again.token, [Result(rows[0], Verdict.ARRIVED)])
        assert not Delivery.objects.exists()

    def test_an_operator_can_have_it_tried_again(self, elsewhere: RemoteServer, post_now: Any) -> None:
        elsewhere.inbox_status = 400
        post_now(1)
        deliver_due()
        elsewhere.inbox_status = 202
        assert retry(by=OPERATOR, ids=[Delivery.objects.get().id]) == 1
        work()
        assert (self.numbers(elsewhere), Delivery.objects.count()) == ([1, 1], 0)

    def test_an_answer_in_doubt_is_asked_for_a_few_times(self, elsewhere: RemoteServer, post_now: Any) -> None:
        """Mastodon drops one of two first requests of an actor that come at once, with 422, and takes it the second time."""
        elsewhere.inbox_status = 422
        post_now(1)
        post_now(2, key="status:2")
        given_up = []
        for _attempt in range(4):
            Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
            deliver_due()
            given_up.append(Delivery.objects.filter(dead_at__isnull=False).count())
            if len(given_up) == 1:
                elsewhere.inbox_status = 202
                Delivery.objects.filter(key="status:2").update(due_at=clock.now() - timedelta(seconds=1))
                deliver_due()
                assert not Delivery.objects.filter(key="status:2").exists()
                elsewhere.inbox_status = 422
        assert given_up == [0, 0, 0, 1]

    def test_the_first_deliveries_to_an_unknown_server_go_one_after_the_other(
        self, elsewhere: RemoteServer, post_now: Any
    ) -> None:
        """Also when several processes deliver; once one has arrived, the server is like any other."""
        for number in range(4):
            post_now(number, key=f"status:{number}")
        first = claim(10)
        ((row,),) = first.by_host.values()
        assert claim(10).by_host == {}
        record(first.token, [Result(row, Verdict.REFUSED)])
        second = claim(10)
        ((row,),) = second.by_host.values()
        record(second.token, [Result(row, Verdict.ARRIVED)])
        assert [len(rows) for rows in claim(10).by_host.values()] == [2]

    def test_an_accept_of_a_follow_that_was_undone_meanwhile_is_not_sent(
        self, elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
    ) -> None:
        elsewhere.inbox_status = 503
        activity = zoe.activity("Follow", alice.uri)
        zoe.send(activity)
        work()
        assert [delivery.activity.type for delivery in Delivery.objects.select_related("activity")] == ["Accept"]
        Delivery.objects.update(due_at=clock.now() + timedelta(days=1))
        Host.objects.update(retry_at=clock.now())
        zoe.send(zoe.activity("Undo", activity))
        work()
        assert (Delivery.objects.count(), OutboundActivity.objects.count()) == (0, 0)
        assert len(elsewhere.delivered()) == 1, "the attempt that failed"

    def test_a_newer_update_replaces_the_one_that_waits(self, elsewhere: RemoteServer, post_now: Any) -> None:
        post_now(1, key="account:1")
        post_now(2, key="account:1", supersedes=True)
        deliver_due()
        assert self.numbers(elsewhere) == [2]


def test_retries_are_spread_over_days_and_end() -> None:
    pauses = [next_attempt(number).total_seconds() for number in range(1, ATTEMPTS)]
    assert all(number**4 + 15 <= pause <= 1.5 * (number**4 + 15) for number, pause in enumerate(pauses, 1))
    assert 2 < sum(pauses) / 86400 < 5


def test_a_host_is_left_alone_for_longer_the_longer_it_fails() -> None:
    now = clock.now()
    assert host_pause(1, now, now) == timedelta(seconds=2)
    assert host_pause(10, now, now) == timedelta(minutes=1)
    assert host_pause(30, now, now) == timedelta(hours=1)
    assert host_pause(99, now - timedelta(days=7, hours=1), now) == timedelta(hours=1)
    assert host_pause(99, now - timedelta(days=60), now) == timedelta(days=1)
    assert verdict_on(204) is Verdict.ARRIVED
