"""Tests of connections to PostgreSQL: they work immediately after a restart, and fail fast without a server."""

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import orjson
import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client

from social.kernel.postgresql import pool as pools
from social.kernel.postgresql.base import DatabaseWrapper
from social.kernel.postgresql.pool import Pool
from social.runtime.embedded import Embedded
from tests.runtime.processes import eventually
from tests.support.own_postgres import own_postgres
from timelines.consumers.routing import StreamingApplication


@pytest.fixture(scope="module")
def server() -> Iterator[Embedded]:
    """A PostgreSQL that a test can stop and start."""
    with own_postgres() as running:
        yield running


class Connecting:
    """A function that connects to `server`, and counts its calls."""

    def __init__(self, server: Embedded) -> None:
        self.conninfo = server.postgres.conninfo()
        self.asked = 0

    def __call__(self) -> psycopg.Connection[Any]:
        self.asked += 1
        return psycopg.connect(self.conninfo, autocommit=True)


@pytest.fixture
def connecting(server: Embedded) -> Connecting:
    return Connecting(server)


@pytest.fixture
def pool(connecting: Connecting) -> Iterator[Pool]:
    found = Pool(connecting, max_size=3, timeout=0.05)
    yield found
    found.close()


def ask(pool: Pool) -> int:
    connection = pool.getconn()
    try:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        return int(row[0])
    finally:
        pool.putconn(connection)


def restart(server: Embedded) -> None:
    server.stop()
    server.start()


def test_all_requests_succeed_after_a_restart_of_postgresql(server: Embedded, pool: Pool) -> None:
    taken = [pool.getconn() for _ in range(3)]
    for connection in taken:
        pool.putconn(connection)
    restart(server)
    assert len({ask(pool) for _ in range(6)}) == 1


def test_a_connection_that_broke_in_use_is_not_reused(server: Embedded, pool: Pool) -> None:
    connection = pool.getconn()
    restart(server)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    pool.putconn(connection)
    assert ask(pool)


def test_the_connection_returned_last_is_reused_first(pool: Pool, connecting: Connecting) -> None:
    assert len({ask(pool) for _ in range(5)}) == 1
    assert connecting.asked == 1


def test_an_idle_connection_with_a_notice_is_reused(pool: Pool, connecting: Connecting) -> None:
    connection = pool.getconn()
    connection.execute("LISTEN something")
    pool.putconn(connection)
    with connecting() as other:
        other.execute("NOTIFY something")
    asked = connecting.asked
    ask(pool)
    assert connecting.asked == asked


def test_connecting_to_a_stopped_database_is_attempted_once_a_second(
    server: Embedded, pool: Pool, connecting: Connecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("social.kernel.circuits.time", SimpleNamespace(monotonic=lambda: now[0]))
    server.stop()
    try:
        for _ in range(5):
            with pytest.raises(psycopg.OperationalError):
                pool.getconn()
        assert connecting.asked == 1
        now[0] += 1.1
        with pytest.raises(psycopg.OperationalError):
            pool.getconn()
        assert connecting.asked == 2
    finally:
        server.start()
    now[0] += 1.1
    assert ask(pool)


def test_a_silent_database_delays_only_one_request_for_less_than_a_second(
    connecting: Connecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pools.CONNECT_SECONDS < 1
    monkeypatch.setattr(pools, "CONNECT_SECONDS", 0.01)
    answers = threading.Event()
    asked = []

    def connect() -> psycopg.Connection[Any]:
        asked.append(1)
        answers.wait(10)
        return connecting()

    pool = Pool(connect, max_size=2, timeout=0.05)
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError):
            pool.getconn()
    assert len(asked) == 1
    answers.set()
    monkeypatch.setattr(pools, "CONNECT_SECONDS", 10)
    pool.circuit.close()
    assert ask(pool)
    pool.close()


def give_back_to_who_waits(pool: Pool) -> None:
    connection = pool.getconn()
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(ask(pool)))
    waiting.start()
    pool.putconn(connection)
    waiting.join(10)
    assert len(found) == 1


def test_a_waiting_thread_gets_the_returned_connection(connecting: Connecting) -> None:
    pool = Pool(connecting, max_size=1, timeout=10)
    give_back_to_who_waits(pool)
    pool.close()


def test_no_further_connection_is_made_if_another_is_returned_soon(
    pool: Pool, connecting: Connecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "INITIAL_SIZE", 1)
    monkeypatch.setattr(pools, "GROWTH_DELAY", 10)
    give_back_to_who_waits(pool)
    assert connecting.asked == 1


def test_a_further_connection_is_made_if_none_is_returned_soon(
    pool: Pool, connecting: Connecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "INITIAL_SIZE", 1)
    monkeypatch.setattr(pools, "GROWTH_DELAY", 0.01)
    taken = [pool.getconn() for _ in range(3)]
    assert connecting.asked == 3
    for connection in taken:
        pool.putconn(connection)


def test_connections_that_are_no_longer_needed_are_closed(
    server: Embedded, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connections() -> int:
        with psycopg.connect(server.postgres.conninfo()) as other:
            row = other.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state = 'idle'"
            ).fetchone()
        assert row is not None
        return int(row[0])

    now = [1000.0]
    monkeypatch.setattr(pools, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for connection in [pool.getconn() for _ in range(3)]:
        pool.putconn(connection)
    now[0] += pools.IDLE_SECONDS - 1
    ask(pool)
    assert connections() == 3
    now[0] += 2
    for _ in range(3):
        ask(pool)
    assert eventually(lambda: connections() == 1, 10)


def test_an_error_says_that_all_connections_are_in_use(pool: Pool) -> None:
    taken = [pool.getconn() for _ in range(3)]
    with pytest.raises(psycopg.OperationalError, match="All 3 connections"):
        pool.getconn()
    for connection in taken:
        pool.putconn(connection)


def test_an_open_transaction_is_rolled_back_before_the_connection_is_reused(pool: Pool, connecting: Connecting) -> None:
    connection = pool.getconn()
    connection.execute("BEGIN")
    connection.execute("CREATE TEMPORARY TABLE left_behind ()")
    pool.putconn(connection)
    connection = pool.getconn()
    row = connection.execute("SELECT to_regclass('left_behind')").fetchone()
    pool.putconn(connection)
    assert row == (None,)
    assert connecting.asked == 1


def test_connections_are_replaced_after_their_lifetime(
    pool: Pool, connecting: Connecting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "LIFETIME", -1.0)
    ask(pool)
    ask(pool)
    assert connecting.asked == 2


@pytest.mark.django_db(transaction=True)
def test_django_takes_connections_from_the_pool_and_returns_them() -> None:
    database = settings.DATABASES["default"]
    wrapper = DatabaseWrapper(database | {"OPTIONS": database["OPTIONS"] | {"pool": {"max_size": 1, "timeout": 0.05}}})
    wrapper.alias = "pooled"
    try:
        for _ in range(3):
            with wrapper.cursor() as cursor:
                cursor.execute("SELECT 1")
                assert cursor.fetchone() == (1,)
            wrapper.close()
        assert wrapper.pool is not None
        assert len(wrapper.pool._idle) == 1
    finally:
        wrapper.close_pool()


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every connection fail."""

    def refuse(*args: object) -> None:
        raise psycopg.OperationalError("The database failed less than a second ago: not asked.")

    monkeypatch.setattr("django.db.backends.postgresql.base.DatabaseWrapper.get_new_connection", refuse)
    from django.db import connection

    connection.close()


Get = Callable[..., Any]


@pytest.mark.usefixtures("absent")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/v1/timelines/public", "application/json"),
        ("/users/alice", "application/json"),
        ("/@alice", "text/html"),
        ("/auth/sign_in", "text/html"),
    ],
)
def test_without_a_database_every_response_is_503_with_a_retry_time(path: str, kind: str) -> None:
    client = Client(raise_request_exception=False)
    client.cookies[settings.SESSION_COOKIE_NAME] = "a-session"
    answer = client.get(path, headers={"Accept": kind if kind == "text/html" else "application/activity+json"})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"].isdigit()
    assert answer.headers["Content-Type"].startswith(kind)
    assert "no-store" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_without_a_database_a_stream_is_refused_in_json(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(token: str) -> None:
        raise OperationalError("not asked")

    monkeypatch.setattr("timelines.consumers.connection_request._find", refuse)
    scope = {"type": kind, "method": "GET", "path": "/api/v1/streaming/user", "query_string": b"access_token=x"}
    opening = {"type": "http.request"} if kind == "http" else {"type": "websocket.connect"}
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return opening

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await StreamingApplication()(scope | {"extensions": {"websocket.http.response": {}}}, receive, send)
    start, body = sent
    assert start["status"] == 503
    assert dict(start["headers"])[b"retry-after"] == b"5"
    assert dict(start["headers"])[b"content-type"].startswith(b"application/json")
    assert set(orjson.loads(body["body"])) == {"error"}
