"""Tests of queries that run without a cursor: they return the same rows, raise the same errors, and are counted."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DataError, OperationalError, ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from social.api.serializers import QueriesForbidden, no_queries
from social.kernel import statements
from social.kernel.fast import is_plain, prepared
from social.kernel.statements import rows_of

pytestmark = pytest.mark.django_db(transaction=True)

prepares = pytest.mark.skipif(is_plain("statements"), reason="a cursor prepares when psycopg thinks fit")
MOMENT = datetime(2024, 2, 29, 12, 30, 1, 250000, tzinfo=UTC)


@pytest.fixture(autouse=True)
def fresh_connection() -> None:
    connection.close()


@contextmanager
def no_cursors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patched:
        if not is_plain("statements"):
            patched.setattr(statements, "_by_cursor", None)
        yield


@pytest.mark.parametrize(
    ("sql", "values"),
    [
        ("SELECT %(a)s::int, %(a)s + 1, %(b)s::bigint WHERE %(a)s < %(b)s", {"a": 7, "b": 2**62}),
        ("SELECT 5 %% 3, -%(a)s", {"a": -1}),
        ("SELECT id FROM unnest((SELECT %(ids)s)::bigint[]) id", {"ids": [3, -(2**63), 1]}),
        ("SELECT cardinality(%(ids)s::bigint[]), 1 = ANY(%(ids)s)", {"ids": []}),
        (
            "SELECT t, t = ANY(%(texts)s) FROM unnest(%(texts)s::text[]) t",
            {"texts": ["plain", 'quo"ted', "back\\slash", "a, {b}", "", "NULL", " ü𝔘 ", "%(a)s"]},
        ),
        ("SELECT %(text)s::text, length(%(text)s), lower(%(text)s)", {"text": "It's 100 %s — ÄÖ"}),
        ("SELECT %(moment)s::timestamptz, extract(epoch FROM %(moment)s)", {"moment": MOMENT}),
        ("SELECT %(none)s::bigint IS NULL, COALESCE(%(none)s::bigint, %(a)s)", {"none": None, "a": 4}),
        (
            "SELECT NULL, true, 1.5::float8, 2.50::numeric, '{\"a\": [1]}'::json, '{\"a\": 1}'::jsonb, ARRAY['x', NULL],"
            " ARRAY[2::bigint], 'bytes'::bytea, DATE '2024-02-29', INTERVAL '1 day', '10.0.0.0/8'::cidr",
            {},
        ),
        ("SELECT 1 WHERE false", {}),
    ],
)
def test_the_rows_equal_those_of_a_cursor(sql: str, values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction.atomic():
        by_cursor = rows_of(sql, values)
    with no_cursors(monkeypatch):
        for _time in range(7):  # PostgreSQL may change the plan of a prepared query after the fifth execution
            assert rows_of(sql, values) == by_cursor


def test_values_of_other_types_prepare_another_statement(monkeypatch: pytest.MonkeyPatch) -> None:
    with no_cursors(monkeypatch):
        sql = "SELECT %(a)s::text"
        assert [rows_of(sql, {"a": value}) for value in (1, "x", None, 2)] == [
            [("1",)],
            [("x",)],
            [(None,)],
            [("2",)],
        ]


def test_values_without_a_placeholder_are_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    with no_cursors(monkeypatch):
        assert rows_of("SELECT %(a)s", {"a": 1, "b": "not sent"}) == [(1,)]


@prepares
def test_a_statement_is_prepared_once_on_its_connection() -> None:
    sql = "SELECT %(a)s, 'prepared once'"
    for number in range(5):
        assert rows_of(sql, {"a": number}) == [(number, "prepared once")]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE '%prepared once''%'"
        )
        assert cursor.fetchall() == [(5,)]


@pytest.mark.parametrize("command", ["DEALLOCATE ALL", "DISCARD ALL"])
def test_a_deallocated_statement_is_prepared_again(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """psycopg deallocates all statements after a transaction was rolled back."""
    with no_cursors(monkeypatch):
        assert rows_of("SELECT %(a)s", {"a": 1}) == [(1,)]
        connection.connection.execute(command)
        assert rows_of("SELECT %(a)s", {"a": 2}) == [(2,)]
        assert rows_of("SELECT %(a)s", {"a": 3}) == [(3,)]


def test_statements_work_after_rolled_back_transactions() -> None:
    for number in range(8):
        assert rows_of("SELECT %(a)s", {"a": number}) == [(number,)]
        with pytest.raises(ZeroDivisionError), transaction.atomic(), connection.cursor() as cursor:
            for _time in range(5):  # psycopg prepares a query after five executions
                cursor.execute("SELECT %s::int", [number])
            raise ZeroDivisionError
    assert rows_of("SELECT %(a)s", {"a": 9}) == [(9,)]


def test_errors_are_those_of_django_and_the_connection_stays_usable() -> None:
    for _time in range(2):
        with pytest.raises(DataError, match="division by zero"):
            rows_of("SELECT 1 / %(a)s", {"a": 0})
        with pytest.raises(ProgrammingError, match="does not exist"):
            rows_of("SELECT * FROM nowhere", {})
    used = connection.connection
    assert rows_of("SELECT 10 / %(a)s", {"a": 5}) == [(2,)]
    assert connection.connection is used


@pytest.mark.parametrize("times_before", [0, 1])
def test_losing_the_connection_during_a_statement_is_an_operational_error(
    times_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response is then 503, whether the query had been prepared or not."""
    with no_cursors(monkeypatch):
        for _time in range(times_before):
            rows_of("SELECT %(a)s", {"a": 1})
        connection.ensure_connection()
        pgconn = connection.connection.pgconn
        with socket.socket(fileno=os.dup(pgconn.socket)) as lost:
            lost.shutdown(socket.SHUT_RDWR)
        try:
            with pytest.raises(OperationalError):
                rows_of("SELECT %(a)s", {"a": 1})
        finally:
            connection.close()
    assert rows_of("SELECT %(a)s", {"a": 2}) == [(2,)]


def test_statements_take_part_in_the_current_transaction() -> None:
    rows_of("SELECT count(*) FROM django_session", {})
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("INSERT INTO django_session VALUES ('key', 'data', now())")
        assert rows_of("SELECT count(*) FROM django_session", {}) == [(1,)]
        raise ZeroDivisionError
    assert rows_of("SELECT count(*) FROM django_session", {}) == [(0,)]


def test_statements_are_counted_like_djangos_queries() -> None:
    with CaptureQueriesContext(connection) as counted:
        rows_of("SELECT %(a)s", {"a": 1})
    assert len(counted) == 1


def test_statements_can_be_forbidden_like_djangos_queries() -> None:
    rows_of("SELECT 1", {})
    with pytest.raises(QueriesForbidden), no_queries():
        rows_of("SELECT 1", {})


def test_without_prepared_statements_a_cursor_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    connection.ensure_connection()
    used = connection.connection
    prepared._sessions.pop(used, None)
    monkeypatch.setattr(used, "prepare_threshold", None)
    for number in range(6):
        assert rows_of("SELECT %(a)s, 'not prepared'", {"a": number}) == [(number, "not prepared")]
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%, ''not prepared'''")
        assert cursor.fetchall() == [(0,)]
    prepared._sessions.pop(used, None)


@pytest.mark.parametrize("value", [1.5, True, b"", {"a": 1}, [1.5], [1, "a"], (1, 2)])
def test_unsupported_values_are_refused_inside_and_outside_of_transactions(value: Any) -> None:
    with pytest.raises(TypeError):
        rows_of("SELECT %(a)s", {"a": value})
    with transaction.atomic(), pytest.raises(TypeError):
        rows_of("SELECT %(a)s", {"a": value})
