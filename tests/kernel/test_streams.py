"""Tests of streams: a message reaches every listener, even after a Redis outage, and publishing never blocks."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from social.kernel import redis, streams
from tests.kernel.valkey import Valkey
from tests.support.patience import watch_circuits


@pytest.fixture
def valkey(tmp_path: Path, settings: Settings) -> Iterator[Valkey]:
    """A server for one test, which can stop and start it."""
    with Valkey(tmp_path) as server:
        settings.REDIS_URLS = {**settings.REDIS_URLS, "streams": server.url}
        redis.circuit("streams").close()
        yield server
    redis.circuit("streams").close()


@pytest.fixture
async def hub() -> AsyncIterator[streams.Hub]:
    made = streams.Hub()
    made.start()
    yield made
    await made.stop()


class Ear:
    """A listener that a test can wait for."""

    def __init__(self) -> None:
        self.received: list[tuple[str, bytes]] = []
        self.arrived = asyncio.Event()

    def __call__(self, channel: str, payload: bytes) -> None:
        self.received.append((channel, payload))
        self.arrived.set()

    async def wait(self, count: int, seconds: float = 5.0) -> list[tuple[str, bytes]]:
        """Return the received messages as soon as there are `count` of them."""
        deadline = time.monotonic() + seconds
        while len(self.received) < count:
            self.arrived.clear()
            await asyncio.wait_for(self.arrived.wait(), deadline - time.monotonic())
        return self.received


async def _lost(hub: streams.Hub) -> None:
    """Wait until the hub has noticed that its server is gone."""
    deadline = time.monotonic() + 5
    while await hub.settled("home:1", seconds=0.01):
        assert time.monotonic() < deadline, "the hub has not noticed the loss of its server"
        await asyncio.sleep(0.02)


async def say(channel: str, payload: bytes) -> None:
    """Publish in a thread, like a process other than the listener's."""
    await asyncio.to_thread(streams.publish, channel, payload)


async def test_messages_reach_every_listener_in_order(valkey: Valkey, hub: streams.Hub) -> None:
    one, two, other = Ear(), Ear(), Ear()
    hub.subscribe("home:1", one)
    hub.subscribe("home:1", two)
    hub.subscribe("home:2", other)
    assert await hub.settled("home:1", "home:2")
    for number in range(100):
        await say("home:1", b"%d\x00\xff" % number)
    expected = [("home:1", b"%d\x00\xff" % number) for number in range(100)]
    assert await one.wait(100) == expected
    assert await two.wait(100) == expected
    assert other.received == []


async def test_an_unsubscribed_listener_receives_nothing_while_others_continue(
    valkey: Valkey, hub: streams.Hub
) -> None:
    stays, leaves = Ear(), Ear()
    for ear in (stays, leaves):
        hub.subscribe("home:1", ear)
    await hub.settled("home:1")
    hub.unsubscribe("home:1", leaves)
    hub.unsubscribe("home:1", leaves)
    hub.unsubscribe("never", leaves)
    await say("home:1", b"x")
    await stays.wait(1)
    assert leaves.received == []


async def test_a_channel_is_subscribed_once_and_unsubscribed_after_its_last_listener(
    valkey: Valkey, hub: streams.Hub
) -> None:
    ears = [Ear() for _ in range(50)]
    for ear in ears:
        hub.subscribe("public", ear)
    await hub.settled("public")
    client = redis.client("streams")
    assert client.pubsub_numsub(streams.channel_key("public")) == [(b"streams:public", 1)]
    for ear in ears:
        hub.unsubscribe("public", ear)
    for _ in range(100):
        if client.pubsub_numsub(streams.channel_key("public")) == [(b"streams:public", 0)]:
            break
        await asyncio.sleep(0.02)
    else:
        pytest.fail("still subscribed")


async def test_no_message_is_missed_after_a_quick_resubscription_has_settled(valkey: Valkey, hub: streams.Hub) -> None:
    ear = Ear()
    for round_ in range(50):
        hub.subscribe("home:1", ear)
        assert await hub.settled("home:1")
        await say("home:1", b"%d" % round_)
        await ear.wait(round_ + 1)
        hub.unsubscribe("home:1", ear)
        await asyncio.sleep(0)


async def test_an_error_in_one_listener_does_not_affect_others(
    valkey: Valkey, hub: streams.Hub, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(channel: str, payload: bytes) -> None:
        raise ValueError

    ear = Ear()
    hub.subscribe("home:1", broken)
    hub.subscribe("home:1", ear)
    await hub.settled("home:1")
    await say("home:1", b"1")
    await say("home:1", b"2")
    assert len(await ear.wait(2)) == 2
    assert "A listener on home:1 failed" in caplog.text


async def test_messages_arrive_again_after_a_restart_of_redis(valkey: Valkey, hub: streams.Hub) -> None:
    ear = Ear()
    hub.subscribe("home:1", ear)
    await hub.settled("home:1")
    await asyncio.to_thread(valkey.kill)
    await _lost(hub)
    hub.subscribe("home:2", ear)
    await say("home:1", b"into the void")
    await asyncio.to_thread(valkey.start)
    assert await hub.settled("home:1", "home:2", seconds=10)
    redis.circuit("streams").close()
    await say("home:1", b"1")
    await say("home:2", b"2")
    assert await ear.wait(2) == [("home:1", b"1"), ("home:2", b"2")]


async def test_a_hub_started_before_redis_connects_later(valkey: Valkey, hub: streams.Hub) -> None:
    valkey.kill()
    late = streams.Hub()
    late.start()
    ear = Ear()
    late.subscribe("home:1", ear)
    await asyncio.sleep(0.3)
    await asyncio.to_thread(valkey.start)
    assert await late.settled("home:1", seconds=10)
    await late.stop()


async def test_the_hub_reconnects_when_the_server_stops_responding(
    valkey: Valkey, hub: streams.Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "_PING_INTERVAL", 0.1)
    monkeypatch.setattr(streams, "_READ_TIMEOUT", 0.4)
    ear = Ear()
    hub.subscribe("home:1", ear)
    await hub.settled("home:1")
    await hub.stop()
    hub.start()
    await hub.settled("home:1")
    with valkey.stopped():
        await _lost(hub)
    assert await hub.settled("home:1", seconds=10)
    redis.circuit("streams").close()
    await say("home:1", b"x")
    await ear.wait(1)


def test_publishing_never_raises_and_a_silent_server_delays_it_once(
    valkey: Valkey, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams.publish("home:1", b"x")
    with valkey.stopped():
        failed = watch_circuits(monkeypatch)
        for _ in range(100):
            streams.publish("home:1", b"x")
        assert failed == [redis.circuit("streams")]
    valkey.kill()
    redis.circuit("streams").close()
    with caplog.at_level(logging.WARNING):
        streams.publish("home:1", b"x")
