"""Tests of the access to Redis: a prefix for each role, short waits for a dead server, and correct behaviour after forks and
restarts.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from social.kernel import heartbeats, redis
from social.kernel.circuits import Circuit
from tests.kernel.valkey import Valkey, close_circuits
from tests.support.patience import SOON, watch_circuits


@pytest.fixture
def server(tmp_path: Path, settings: Settings) -> Iterator[Valkey]:
    """A server for all roles, for one test."""
    with Valkey(tmp_path) as valkey:
        settings.REDIS_URLS = dict.fromkeys(settings.REDIS_URLS, valkey.url)
        close_circuits()
        yield valkey
    close_circuits()


def by_client(role: redis.Role, *command: str) -> Any:
    """Run a command through redis-py's own API."""
    return redis.client(role).execute_command(*command)


Asking = Callable[..., Any]


def at_once(role: redis.Role, *command: Any) -> Any:
    """Run a single command through `redis.ask_at_once`, which accepts several commands."""
    return redis.ask_at_once(role, command)[0]


both_ways = pytest.mark.parametrize("asking", [by_client, redis.ask, at_once])


def seconds_to_fail(role: redis.Role, asking: Asking = by_client) -> float:
    """Return how long a command takes to raise RedisError."""
    began = time.monotonic()
    with pytest.raises(redis.RedisError):
        asking(role, "GET", "x")
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


@both_ways
def test_commands_to_a_dead_server_fail_immediately(server: Valkey, asking: Asking) -> None:
    assert asking("cache", "PING")
    server.kill()
    assert seconds_to_fail("cache", asking) < SOON
    assert redis.circuit("cache").is_open


@pytest.mark.verify
@both_ways
def test_a_silent_server_delays_one_command_a_second(
    server: Valkey, monkeypatch: pytest.MonkeyPatch, asking: Asking
) -> None:
    asking("cache", "PING")
    with server.stopped(), monkeypatch.context() as patch:
        failed = watch_circuits(patch)
        for _ in range(100):
            seconds_to_fail("cache", asking)
        assert failed == [redis.circuit("cache")]
        redis.circuit("feeds").close()
        assert seconds_to_fail("feeds", asking) > 0.15, "each role has its own circuit"
    redis.circuit("cache").failed()
    time.sleep(1.1)
    assert asking("cache", "PING")


@both_ways
def test_commands_succeed_after_a_restart_of_the_server(server: Valkey, asking: Asking) -> None:
    asking("cache", "PING")
    server.kill()
    server.start()
    assert asking("cache", "PING"), "a new connection replaces the dead one"


def test_a_late_answer_is_not_taken_for_that_of_another_command(server: Valkey) -> None:
    assert redis.ask("cache", "ECHO", "before") == b"before"
    with server.stopped(), pytest.raises(redis.RedisError):
        redis.ask("cache", "ECHO", "too late")
    for number in range(3):
        close_circuits()
        assert redis.ask("cache", "ECHO", f"after {number}") == b"after %d" % number


def test_an_error_answer_keeps_the_connection_and_the_circuit_closed(server: Valkey) -> None:
    redis.client("cache").set("text", "x")
    connections = len(redis.client("cache").client_list())
    for _time in range(5):
        with pytest.raises(redis.RedisError, match="not an integer"):
            redis.ask("cache", "INCR", "text")
    assert redis.ask("cache", "MGET", "text", "nothing") == [b"x", None]
    assert len(redis.client("cache").client_list()) <= connections + 1


def test_commands_of_a_transaction_are_answered_in_order_and_an_error_is_raised(server: Valkey) -> None:
    assert redis.ask_at_once("cache", ("SET", "n", 1), ("INCR", "n"), ("GET", "n")) == [b"OK", 2, b"2"]
    redis.client("cache").set("text", "x")
    with pytest.raises(redis.RedisError, match="not an integer"):
        redis.ask_at_once("cache", ("INCR", "n"), ("INCR", "text"), ("GET", "n"))
    with pytest.raises(redis.RedisError, match="wrong number of arguments"):
        redis.ask_at_once("cache", ("INCR", "n"), ("GET",), ("INCR", "n"))
    assert redis.ask_at_once("cache", ("GET", "n")) == redis.ask("cache", "MGET", "n") == [b"3"]


def test_best_effort_suppresses_errors_and_logs_one_warning(server: Valkey, caplog: pytest.LogCaptureFixture) -> None:
    server.kill()
    with caplog.at_level(logging.WARNING):
        for _ in range(5):
            with redis.best_effort("count something for this test") as attempt:
                redis.client("cache").incr("x")
            assert attempt.failed
    assert caplog.text.count("count something for this test") == 1


def test_best_effort_does_not_suppress_other_errors() -> None:
    with pytest.raises(ZeroDivisionError), redis.best_effort("divide"):
        raise ZeroDivisionError


def test_a_script_is_loaded_again_after_redis_lost_it(server: Valkey) -> None:
    script = redis.Script("cache", "return redis.call('INCRBY', KEYS[1], ARGV[1])")
    assert script(["n"], [2]) == 2
    redis.client("cache").script_flush()
    assert script(["n"], [3]) == 5
    server.kill()
    server.start()
    assert script(["n"], [1]) == 1


@both_ways
def test_a_forked_child_does_not_use_the_connection_of_its_parent(server: Valkey, asking: Asking) -> None:
    asking("cache", "SET", "who", "parent")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if all(asking("cache", "ECHO", "child") == b"child" for _ in range(200)) else 2
        finally:
            os._exit(code)
    assert all(asking("cache", "ECHO", "parent") == b"parent" for _ in range(200))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@both_ways
def test_threads_share_connections(server: Valkey, asking: Asking) -> None:
    wrong: list[bytes] = []

    def work(name: bytes) -> None:
        wrong.extend(answer for _ in range(100) if (answer := asking("cache", "ECHO", name)) != name)

    threads = [threading.Thread(target=work, args=(b"%d" % n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_present_and_missing_heartbeats_are_detected(server: Valkey) -> None:
    assert heartbeats.last("worker") is None
    heartbeats.beat("worker")
    assert heartbeats.last("worker") is not None
    assert 0 < int(redis.client("cache").ttl("cache:heartbeat:worker")) <= 60
    server.kill()
    heartbeats.beat("worker")


def test_a_circuit_closes_after_a_while() -> None:
    circuit = Circuit(0.05)
    assert not circuit.is_open
    circuit.failed()
    assert circuit.is_open
    time.sleep(0.06)
    assert not circuit.is_open
