"""Tests of a server that is unreachable for hours: afterwards it gets every activity once and in order (issue G)."""

import json
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from accounts.models import Account
from federation.models import Delivery, OutboundActivity
from federation.outbound import delivering
from federation.outbound.delivering import DELIVERIES
from federation.outbound.queueing import enqueue
from social.kernel.runner import Host
from tests.support.receiver import Manner, Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.verify]

HOURS = 12
AWAY, WELL = "127.0.0.2", "127.0.0.3"


@pytest.fixture
def others(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Two remote servers, one of which will be unreachable."""
    settings.FEDERATION_LOOPBACK = True
    monkeypatch.setattr(delivering, "DEADLINE", 0.3)
    with Receiver(addresses=(AWAY, WELL)).running() as receiver:
        yield receiver


def hours_pass(hours: float) -> None:
    """Move all due times and creation times into the past by this many hours."""
    earlier = timedelta(hours=hours)
    Delivery.objects.update(due_at=F("due_at") - earlier, created_at=F("created_at") - earlier)
    Host.objects.update(retry_at=F("retry_at") - earlier, failing_since=F("failing_since") - earlier)


@pytest.mark.parametrize(
    "manner",
    [
        pytest.param(Manner(b""), id="down"),
        pytest.param(Manner(seconds=60.0), id="slow"),
        pytest.param(Manner(b"302 Found\r\nLocation: http://127.0.0.3/inbox"), id="redirecting"),
        pytest.param(Manner(b"500 Internal Server Error"), id="failing"),
        pytest.param(Manner(b"429 Too Many Requests\r\nRetry-After: 60"), id="busy"),
    ],
)
def test_an_outage_of_hours_neither_loses_nor_repeats_activities(
    others: Receiver, alice: Account, manner: Manner
) -> None:
    numbers: list[int] = []

    def send() -> None:
        """Queue a post and its edit for both servers."""
        for kind in ("Create", "Update"):
            numbers.append(len(numbers))
            document = {"id": f"{alice.uri}#{numbers[-1]}", "type": kind, "number": numbers[-1]}
            inboxes = [f"http://{address}:{others.port}/inbox" for address in (AWAY, WELL)]
            enqueue(alice, document, inboxes, key=f"status:{numbers[-1] // 2}")

    def arrived(address: str) -> list[int]:
        return [json.loads(one.body)["number"] for one in others.came if one.address == address]

    send()
    DELIVERIES.run()
    DELIVERIES.run()
    assert arrived(AWAY) == arrived(WELL) == [0, 1]
    others.manners = {AWAY: manner}
    for hour in range(HOURS):
        others.came.clear()
        send()
        DELIVERIES.run()
        assert sorted(arrived(WELL)) == numbers[-2:], "the other server is not delayed"
        if hour and b"429" not in manner.answer:
            assert len(arrived(AWAY)) <= 1, "a failing server gets one request per hour"
        hours_pass(1)
    assert Delivery.objects.filter(dead_at=None).count() == 2 * HOURS
    others.manners = {}
    others.came.clear()
    for _turn in range(HOURS):
        DELIVERIES.run()
        hours_pass(1)
    came = arrived(AWAY)
    assert Counter(came) == Counter(numbers[2:]), "every activity arrived once"
    assert all(came.index(number) < came.index(number + 1) for number in numbers[2::2]), (
        "no edit arrives before its post"
    )
    assert arrived(WELL) == []
    assert not Delivery.objects.exists()
    assert not OutboundActivity.objects.exists()
    assert Host.objects.get(name=f"{AWAY}:{others.port}").failures == 0
