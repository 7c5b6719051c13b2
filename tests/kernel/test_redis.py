"""Promises of the access to Redis: one prefix per role, nobody waits long for a dead server, forks and restarts do no harm."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from social.kernel import heartbeats, redis
from social.kernel.circuits import Circuit
from tests.kernel.valkey import Valkey
from tests.support.patience import SOON, watch_circuits


@pytest.fixture
def server(tmp_path: Path, settings: Settings) -> Iterator[Valkey]:
    """A server for all roles, of this test's own."""
    with Valkey(tmp_path) as valkey:
        settings.REDIS_URLS = dict.fromkeys(settings.REDIS_URLS, valkey.url)
        _close_circuits()
        yield valkey
    _close_circuits()


def _close_circuits() -> None:
    for role in redis.TIMEOUTS:
        redis.circuit(role).close()


def seconds_to_fail(role: redis.Role) -> float:
    """How long a command takes to raise RedisError."""
    began = time.monotonic()
    with pytest.raises(redis.RedisError):
        redis.client(role).get("x")
    return time.monotonic() - began


def test_roles_that_share_a_server_do_not_share_keys() -> None:
    assert redis.key("cache", "token", 12) == "cache:token:12"
    assert len({redis.key(role, "x") for role in redis.TIMEOUTS}) == 4


def test_answers_are_bytes_and_the_client_is_one_per_role(server: Valkey) -> None:
    client = redis.client("cache")
    client.set("x", "é")
    assert client.get("x") == "é".encode()
    assert redis.client("cache") is client
    assert redis.client("feeds") is not client


def test_a_dead_server_fails_at_once(server: Valkey) -> None:
    redis.client("cache").ping()
    server.kill()
    assert seconds_to_fail("cache") < SOON
    assert redis.circuit("cache").is_open


def test_a_silent_server_is_waited_for_once_and_then_not_for_a_second(
    server: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis.client("cache").ping()
    with server.stopped(), monkeypatch.context() as patch:
        failed = watch_circuits(patch)
        for _ in range(100):
            seconds_to_fail("cache")
        assert failed == [redis.circuit("cache")]
        redis.circuit("feeds").close()
        assert seconds_to_fail("feeds") > 0.15, "each role has a circuit of its own"
    redis.circuit("cache").failed()
    time.sleep(1.1)
    assert redis.client("cache").ping()


def test_a_restart_is_not_noticed_by_whoever_asks_afterwards(server: Valkey) -> None:
    redis.client("cache").ping()
    server.kill()
    server.start()
    assert redis.client("cache").ping(), "the connection in the pool is dead: a new one is made"


def test_best_effort_swallows_and_says_so_once(server: Valkey, caplog: pytest.LogCaptureFixture) -> None:
    server.kill()
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            with redis.best_effort("count something for this test") as attempt:
                redis.client("cache").incr("x")
            assert attempt.failed
    assert caplog.text.count("count something for this test") == 1


def test_best_effort_hides_no_fault_of_our_own() -> None:
    with pytest.raises(ZeroDivisionError), redis.best_effort("divide"):
        raise ZeroDivisionError


def test_a_script_is_loaded_again_when_redis_has_forgotten_it(server: Valkey) -> None:
    script = redis.Script("cache", "return redis.call('INCRBY', KEYS[1], ARGV[1])")
    assert script(["n"], [2]) == 2
    redis.client("cache").script_flush()
    assert script(["n"], [3]) == 5
    server.kill()
    server.start()
    assert script(["n"], [1]) == 1


def test_a_fork_does_not_talk_on_its_parents_connection(server: Valkey) -> None:
    client = redis.client("cache")
    client.set("who", "parent")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if all(redis.client("cache").echo("child") == b"child" for _ in range(200)) else 2
        finally:
            os._exit(code)
    assert all(client.echo("parent") == b"parent" for _ in range(200))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_threads_share_the_client(server: Valkey) -> None:
    wrong: list[bytes] = []

    def work(name: bytes) -> None:
        wrong.extend(answer for _ in range(100) if (answer := redis.client("cache").echo(name)) != name)

    threads = [threading.Thread(target=work, args=(b"%d" % n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


async def test_the_asynchronous_client_belongs_to_its_loop(server: Valkey) -> None:
    client = redis.async_client("cache")
    assert client is redis.async_client("cache")
    await client.set("x", b"1")
    assert await client.get("x") == b"1"

    async def elsewhere() -> bytes | None:
        other = redis.async_client("cache")
        assert other is not client
        try:
            return await other.get("x")
        finally:
            await other.aclose()

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere())) == b"1"
    await client.aclose()


async def test_the_asynchronous_client_obeys_the_circuit(server: Valkey, monkeypatch: pytest.MonkeyPatch) -> None:
    client = redis.async_client("cache")
    await client.ping()
    with server.stopped():
        failed = watch_circuits(monkeypatch)
        for _ in range(50):
            with redis.best_effort("ask from a loop"):
                await client.get("x")
        assert failed == [redis.circuit("cache")]
    await client.aclose()


def test_a_heartbeat_is_seen_and_its_absence_too(server: Valkey) -> None:
    assert heartbeats.last("worker") is None
    heartbeats.beat("worker")
    assert heartbeats.last("worker") is not None
    assert 0 < int(redis.client("cache").ttl("cache:heartbeat:worker")) <= 60
    server.kill()
    heartbeats.beat("worker")


def test_a_circuit_closes_by_itself() -> None:
    circuit = Circuit(0.05)
    assert not circuit.is_open
    circuit.failed()
    assert circuit.is_open
    time.sleep(0.06)
    assert not circuit.is_open
