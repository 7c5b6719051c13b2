"""Tests that deliveries arrive once and in order, and failing servers do not delay others (contract, federation section 12)."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from accounts.policies.staff import OPERATOR
from federation.models import Delivery, OutboundActivity
from federation.outbound.delivering import DELIVERIES, DeliveryOutcome, outcome_of
from federation.outbound.queueing import enqueue, retry
from social.kernel import clock
from social.kernel.runner import TERMS, Failed, Host, Run
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


class TestDelivering:
    @pytest.fixture
    def post_now(self, zoe_here: Account, alice: Account) -> Any:
        """A function that queues a numbered activity for delivery to Zoe; activities with the same key are delivered in
        order.
        """

        def put(number: int, key: str = "status:1", inbox: str = zoe_here.shared_inbox_url, **more: Any) -> None:
            document = {"id": f"{alice.uri}#{number}", "type": "Note", "number": number}
            enqueue(alice, document, [inbox], key=key, **more)

        return put

    def numbers(self, elsewhere: RemoteServer) -> list[int]:
        return [item["number"] for item in elsewhere.delivered()]

    def test_activities_about_one_object_arrive_in_order(self, elsewhere: RemoteServer, post_now: Any) -> None:
        for number in range(12):
            post_now(number, key=f"status:{number % 2}")
        DELIVERIES.run()
        numbers = self.numbers(elsewhere)
        assert [number for number in numbers if number % 2] == [1, 3, 5, 7, 9, 11]
        assert [number for number in numbers if not number % 2] == [0, 2, 4, 6, 8, 10]
        assert not Delivery.objects.exists()

    def test_a_later_delivery_waits_for_a_failed_earlier_one(self, elsewhere: RemoteServer, post_now: Any) -> None:
        elsewhere.inbox_status = 503
        post_now(1)
        post_now(2)
        DELIVERIES.run()
        elsewhere.inbox_status = 202
        Host.objects.update(failures=0, retry_at=clock.now())
        Delivery.objects.filter(id=Delivery.objects.latest("id").id).update(due_at=clock.now())
        DELIVERIES.run()
        assert self.numbers(elsewhere) == [1]
        Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
        DELIVERIES.run()
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
    def test_the_status_of_a_response_decides_about_delivery_and_host(
        self, elsewhere: RemoteServer, post_now: Any, status: int, given_up: bool, host_blamed: bool
    ) -> None:
        elsewhere.inbox_status = status
        post_now(1)
        DELIVERIES.run()
        delivery = Delivery.objects.get()
        assert (delivery.dead_at is not None, delivery.attempts) == (given_up, 1)
        assert delivery.last_error.startswith(str(status))
        assert Host.objects.filter(name=elsewhere.domain, failures__gt=0).exists() == host_blamed
        assert delivery.claimed_until is None

    def test_a_dead_host_delays_no_other_and_is_probed_by_one_request(
        self, elsewhere: RemoteServer, post_now: Any, alice: Account
    ) -> None:
        with RemoteServer().running() as other:
            dead = other.url
        for number in range(10):
            post_now(number, key=f"status:{number}", inbox=f"{dead}/inbox")
            post_now(100 + number, key=f"status:{number}")
        DELIVERIES.run()
        assert sorted(self.numbers(elsewhere)) == list(range(100, 110))
        host = Host.objects.get(failures__gt=0)
        assert (host.failures, host.retry_at > clock.now()) == (1, True)
        assert Run(DELIVERIES).claim() == []
        Host.objects.update(retry_at=clock.now())
        Delivery.objects.update(due_at=clock.now())
        assert len(Run(DELIVERIES).claim()) == 1

    def test_deliveries_of_a_dead_process_are_claimed_again(self, elsewhere: RemoteServer, post_now: Any) -> None:
        post_now(1)
        held, again = Run(DELIVERIES), Run(DELIVERIES)
        (job,) = held.claim()
        assert again.claim() == []
        Delivery.objects.update(claimed_until=clock.now() - timedelta(seconds=1))
        (same,) = again.claim()
        job.answers[job.row.host] = "it does not answer"
        for failed in (Failed("it does not answer"), None):
            held.end(job, failed)
            held.settle()
        assert Delivery.objects.count() == 1, "the result of the first holder is ignored"
        assert not Host.objects.exists(), "its result does not count for the host either"
        again.end(same, None)
        again.settle()
        assert not Delivery.objects.exists()

    def test_an_operator_can_retry_a_delivery(self, elsewhere: RemoteServer, post_now: Any) -> None:
        elsewhere.inbox_status = 400
        post_now(1)
        DELIVERIES.run()
        elsewhere.inbox_status = 202
        assert retry(by=OPERATOR, ids=[Delivery.objects.get().id]) == 1
        work()
        assert (self.numbers(elsewhere), Delivery.objects.count()) == ([1, 1], 0)

    def test_a_delivery_with_an_ambiguous_response_is_retried_a_few_times(
        self, elsewhere: RemoteServer, post_now: Any
    ) -> None:
        """Mastodon rejects one of two simultaneous first requests from an actor with 422, and accepts the retry."""
        elsewhere.inbox_status = 422
        post_now(1)
        post_now(2, key="status:2")
        given_up = []
        for _attempt in range(4):
            Delivery.objects.update(due_at=clock.now() - timedelta(seconds=1))
            DELIVERIES.run()
            given_up.append(Delivery.objects.filter(dead_at__isnull=False).count())
            if len(given_up) == 1:
                elsewhere.inbox_status = 202
                Delivery.objects.filter(key="status:2").update(due_at=clock.now() - timedelta(seconds=1))
                DELIVERIES.run()
                assert not Delivery.objects.filter(key="status:2").exists()
                elsewhere.inbox_status = 422
        assert given_up == [0, 0, 0, 1]

    def test_the_first_deliveries_to_an_unknown_server_go_one_after_the_other(
        self, elsewhere: RemoteServer, post_now: Any
    ) -> None:
        """The rule also holds if several processes deliver; after the first success the server is treated like any other."""
        for number in range(4):
            post_now(number, key=f"status:{number}")
        first, second = Run(DELIVERIES), Run(DELIVERIES)
        (job,) = first.claim()
        assert second.claim() == []
        first.end(job, Failed("refused", final=True))
        first.settle()
        (job,) = second.claim()
        second.end(job, None)
        second.settle()
        assert len(Run(DELIVERIES).claim()) == 2

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
        assert len(elsewhere.delivered()) == 1, "the only attempt is the one that failed"

    def test_a_newer_update_replaces_the_one_that_waits(self, elsewhere: RemoteServer, post_now: Any) -> None:
        post_now(1, key="account:1")
        post_now(2, key="account:1", supersedes=True)
        DELIVERIES.run()
        assert self.numbers(elsewhere) == [2]


def test_retries_are_spread_over_days_and_end() -> None:
    terms = TERMS["deliveries"]
    pauses = [terms.retry_after(number) for number in range(1, terms.attempts)]
    assert all(number**4 + 15 <= pause <= 1.5 * (number**4 + 15) for number, pause in enumerate(pauses, 1))
    assert 2 < sum(pauses) / 86400 < 5


def test_a_failing_host_is_retried_after_growing_delays() -> None:
    now, host_pause = clock.now(), TERMS["deliveries"].host_pause
    assert host_pause(1, now, now) == timedelta(seconds=2)
    assert host_pause(10, now, now) == timedelta(minutes=1)
    assert host_pause(30, now, now) == timedelta(hours=1)
    assert host_pause(99, now - timedelta(days=7, hours=1), now) == timedelta(hours=1)
    assert host_pause(99, now - timedelta(days=60), now) == timedelta(days=1)
    assert outcome_of(204) is DeliveryOutcome.ARRIVED
