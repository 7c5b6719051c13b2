"""Tests that slow remote servers do not block web requests (DESIGN "One way out")."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from pytest_django import Settings

from social.kernel.http import limits
from social.kernel.http.client import Busy, Exhausted, FetchError, GuardedClient, Request, TimedOut, Unreachable
from social.kernel.http.limits import HostPauses, stranger_budget, web_request_budget
from tests.kernel.http.attacker import Attacker
from tests.runtime.processes import eventually
from tests.support.patience import SOON


def seconds_of(work: Callable[[], object], error: type[FetchError]) -> float:
    """Return how long the call took to raise the expected error."""
    started = time.monotonic()
    with pytest.raises(error):
        work()
    return time.monotonic() - started


def test_the_budget_limits_how_long_a_web_request_waits_for_the_network(
    client: GuardedClient, attacker: Attacker
) -> None:
    def silent() -> object:
        return client.send(Request(attacker.url("/silent"), deadline=100))

    with web_request_budget(0.3):
        assert 0.25 < seconds_of(silent, TimedOut) < SOON
        for path in ("/silent", "/"):
            with pytest.raises(Exhausted):
                client.send(Request(attacker.url(path), deadline=100))
    assert client.send(Request(attacker.url())).status == 200


@pytest.mark.verify
def test_only_waiting_spends_the_budget(client: GuardedClient, attacker: Attacker) -> None:
    with web_request_budget(0.6):
        time.sleep(0.6)
        for _ in range(3):
            client.send(Request(attacker.url("/slow/0.1")))
        assert seconds_of(lambda: client.send(Request(attacker.url("/silent"), deadline=100)), TimedOut) < SOON


def test_concurrent_fetches_spend_the_same_time_once(client: GuardedClient, attacker: Attacker) -> None:
    async def together() -> None:
        await asyncio.gather(*(client.send_async(Request(attacker.url("/slow/0.2"))) for _ in range(5)))

    with web_request_budget(0.8):
        asyncio.run(together())
        asyncio.run(together())


def test_a_nested_budget_does_not_extend_the_outer_one(client: GuardedClient, attacker: Attacker) -> None:
    with web_request_budget(0.2):
        with web_request_budget(10):
            seconds_of(lambda: client.send(Request(attacker.url("/silent"))), TimedOut)
        with pytest.raises(Exhausted):
            client.send(Request(attacker.url()))


def test_at_most_half_of_the_web_threads_wait_for_the_network(
    client: GuardedClient, attacker: Attacker, settings: Settings
) -> None:
    settings.WEB_THREADS = 4
    barrier = threading.Barrier(5)
    outcomes: list[str] = []

    def web_request() -> None:
        with web_request_budget(1.0):
            barrier.wait()
            try:
                client.send(Request(attacker.url("/silent"), deadline=0.8))
            except FetchError as error:
                outcomes.append(type(error).__name__)

    threads = [threading.Thread(target=web_request) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["Busy"] * 3 + ["TimedOut"] * 2
    with web_request_budget():
        assert client.send(Request(attacker.url())).status == 200


def test_unknown_callers_occupy_at_most_a_quarter_of_the_web_threads_one_per_host(settings: Settings) -> None:
    settings.WEB_THREADS = 8
    with web_request_budget(), stranger_budget("one.example", 1.0):
        with pytest.raises(Busy), stranger_budget("one.example", 0.05):
            """Its turn did not come in time."""
        with stranger_budget("two.example", 1.0), pytest.raises(Busy), stranger_budget("three.example", 60.0):
            """Nobody waits for a place that another host has."""
        with stranger_budget("three.example", 1.0):
            pass
    with stranger_budget("one.example", 1.0), stranger_budget("one.example", 1.0):
        """Outside of web requests nobody's thread is held."""


def test_for_each_host_a_second_unknown_caller_waits_and_a_third_is_refused(settings: Settings) -> None:
    settings.WEB_THREADS = 8
    order: list[object] = []

    def second() -> None:
        with web_request_budget(60.0), stranger_budget("one.example", 60.0) as has_waited:
            order.append(has_waited)

    with web_request_budget(60.0), stranger_budget("one.example", 60.0) as has_waited:
        thread = threading.Thread(target=second)
        thread.start()
        eventually(lambda: limits._wanted_by_strangers)
        with pytest.raises(Busy), stranger_budget("one.example", 60.0):
            pass
        order.append(has_waited)
    thread.join()
    assert order == [False, True]
    assert (limits._wanted_by_strangers, limits._asked_by_strangers) == (set(), set())


def test_fetches_for_an_unknown_caller_are_limited_to_their_share_of_time(
    client: GuardedClient, attacker: Attacker
) -> None:
    with web_request_budget(100.0):
        with stranger_budget("one.example", 0.3):
            assert seconds_of(lambda: client.send(Request(attacker.url("/silent"), deadline=100)), TimedOut) < SOON
            with pytest.raises(Exhausted):
                client.send(Request(attacker.url()))
        assert client.send(Request(attacker.url())).status == 200


def test_waiting_web_requests_do_not_delay_other_work(
    client: GuardedClient, attacker: Attacker, settings: Settings
) -> None:
    settings.WEB_THREADS = 1

    def web_request() -> None:
        with web_request_budget(0.3), pytest.raises(TimedOut):
            client.send(Request(attacker.url("/silent")))

    thread = threading.Thread(target=web_request)
    thread.start()
    time.sleep(0.05)
    assert client.send(Request(attacker.url())).status == 200
    thread.join()


def test_web_requests_do_not_retry_a_dead_host_for_a_while(client: GuardedClient) -> None:
    with Attacker() as gone:
        port = gone.port
    with web_request_budget(), pytest.raises(Unreachable):
        client.send(Request(gone.url()))
    with Attacker(port=port) as back:
        with web_request_budget(), pytest.raises(Unreachable, match="a moment ago"):
            client.send(Request(back.url()))
        assert back.connections == 0
        # Jobs that have their own back-off may connect during the pause, and a successful connection ends the pause.
        assert client.send(Request(back.url())).status == 200
        with web_request_budget():
            assert client.send(Request(back.url())).status == 200


@pytest.mark.verify
def test_a_host_silent_for_a_second_counts_as_dead(client: GuardedClient, attacker: Attacker) -> None:
    with web_request_budget():
        seconds_of(lambda: client.send(Request(attacker.url("/silent"), deadline=0.3)), TimedOut)
        assert client.send(Request(attacker.url())).status == 200
        seconds_of(lambda: client.send(Request(attacker.url("/silent"), deadline=1.1)), TimedOut)
        with pytest.raises(Unreachable, match="a moment ago"):
            client.send(Request(attacker.url()))


def test_pauses_expire_and_the_number_of_paused_hosts_is_limited() -> None:
    pauses = HostPauses(seconds=0.05, size=2)
    for port in (1, 2, 3):
        pauses.note("remote.example", port)
    assert [pauses.holds("remote.example", port) for port in (1, 2, 3)] == [False, True, True]
    pauses.forget("remote.example", 2)
    assert not pauses.holds("remote.example", 2)
    time.sleep(0.06)
    assert not pauses.holds("remote.example", 3)
