"""Runs a fixed statement with nothing between it and libpq once its connection has prepared it.

A cursor of Django on one of psycopg costs a hundred microseconds for each statement, several times what its rows take. What
both do for a reader is kept: connections come from Django, values and rows pass through psycopg's adapters, errors are
Django's. Whatever else they do is left to them: in a transaction, while statements are counted or forbidden, and with a pooler
that knows no prepared statements, the statement goes through a cursor.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus, TransactionStatus
from psycopg.types.numeric import Int8

Row = tuple[Any, ...]

_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s|%%")
_UNKNOWN_NAME: Final = b"26000"  # invalid_sql_statement_name


Value = int | str | datetime | list[int] | list[str] | None

_TYPES: Final = psycopg.adapters.types
# As psycopg: PostgreSQL finds the type of a text, of a list of texts, of nothing and of an empty list where it stands.
_FOUND_BY_PLACE: Final = 0


def _number(value: int) -> tuple[int, bytes]:
    return _INT8, b"%d" % value


def _text(value: str) -> tuple[int, bytes]:
    return _FOUND_BY_PLACE, value.encode()


def _moment(value: datetime) -> tuple[int, bytes]:
    return _TIMESTAMPTZ, value.isoformat().encode()


def _nothing(value: None) -> tuple[int, None]:
    return _FOUND_BY_PLACE, None


def _list(value: list[Any]) -> tuple[int, bytes]:
    kinds = set(map(type, value))
    if not kinds:
        return _FOUND_BY_PLACE, b"{}"
    if kinds == {int}:
        return _INT8_ARRAY, f"{{{','.join(map(str, value))}}}".encode()
    if kinds == {str}:
        return _FOUND_BY_PLACE, f"{{{','.join(map(_quoted, value))}}}".encode()
    raise TypeError(f"a list of numbers or of texts was expected, not of {kinds}")


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_INT8: Final = _TYPES["int8"].oid
_INT8_ARRAY: Final = _TYPES["int8"].array_oid
_TIMESTAMPTZ: Final = _TYPES["timestamptz"].oid
#: By type, how a value is sent: the number of its type in PostgreSQL, and its text.
_WRITERS: Final[dict[type, Callable[[Any], tuple[int, bytes | None]]]] = {
    int: _number,
    str: _text,
    datetime: _moment,
    list: _list,
    type(None): _nothing,
}


class _Statement(NamedTuple):
    """A statement as PostgreSQL knows it, with the names of its values in their order."""

    name: bytes
    sql: bytes
    values: tuple[str, ...]


class _Session(NamedTuple):
    """What is known of one connection: the names of what is prepared on it, by statement and types, and how it reads rows."""

    prepared: dict[tuple[bytes, tuple[int, ...]], bytes]
    transformer: Any  # psycopg's, in C or in Python


_sessions: WeakKeyDictionary[psycopg.Connection[Any], _Session | None] = WeakKeyDictionary()


def fetch(sql: str, values: Mapping[str, Value]) -> list[Row]:
    """All rows of a statement of ours with the placeholders `%(name)s`, as `cursor.execute` and `fetchall` give them.

    A number is sent as a `bigint`. For statements that are written in the code: each is kept, and prepared on each
    connection that it comes to. Raises django.db.Error, and TypeError for a value that is none of `Value`.
    """
    wrapper: Any = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is None:
        wrapper.ensure_connection()
    raw: psycopg.Connection[Any] = wrapper.connection
    session = _session(raw)
    statement = _statement(sql)
    # Here, and so for both ways: what one cannot send the other must not take either.
    written = [_written(values[name]) for name in statement.values]
    if (
        session is None
        or wrapper.execute_wrappers
        or wrapper.queries_logged
        or wrapper.in_atomic_block
        or not wrapper.autocommit
        or raw.pgconn.transaction_status != TransactionStatus.IDLE
    ):
        return _by_cursor(wrapper, sql, values)
    with wrapper.wrap_database_errors:
        result = _execute(raw, session, statement, written)
        transformer = session.transformer
        transformer.set_pgresult(result)
        rows: list[Row] = transformer.load_rows(0, result.ntuples, tuple)
        transformer.set_pgresult(None)
    return rows


_numbers: Final = itertools.count()


@cache
def _statement(sql: str) -> _Statement:
    values: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "%"
        if name not in values:
            values.append(name)
        return f"${values.index(name) + 1}"

    numbered = _PLACEHOLDER.sub(number, sql).encode()
    return _Statement(b"fixed_%d" % next(_numbers), numbered, tuple(values))


def _session(raw: psycopg.Connection[Any]) -> _Session | None:
    try:
        return _sessions[raw]
    except KeyError:
        session = None if raw.prepare_threshold is None else _Session({}, Transformer(raw.adapters))
        return _sessions.setdefault(raw, session)


def _execute(
    raw: psycopg.Connection[Any],
    session: _Session,
    statement: _Statement,
    written: Sequence[tuple[int, bytes | None]],
) -> Any:
    types = tuple([oid for oid, _text in written])
    # None stands for NULL, which the declaration does not know.
    sent: Any = [text for _oid, text in written]
    mark = statement.name, types
    name = session.prepared.get(mark)
    if name is not None:
        result = raw.pgconn.exec_prepared(name, sent)
        if result.status == ExecStatus.TUPLES_OK:
            return result
        if result.error_field(DiagnosticField.SQLSTATE) != _UNKNOWN_NAME:
            raise error_from_result(result, encoding=raw.info.encoding)
        # psycopg deallocates everything after a transaction was rolled back. Nothing was executed, so it is safe to try again.
        del session.prepared[mark]
    name = b"%b_%b" % (statement.name, b"_".join(b"%d" % oid for oid in types))
    answer = raw.pgconn.prepare(name, statement.sql, types)
    if answer.status == ExecStatus.COMMAND_OK:
        session.prepared[mark] = name
        answer = raw.pgconn.exec_prepared(name, sent)
    if answer.status != ExecStatus.TUPLES_OK:
        raise error_from_result(answer, encoding=raw.info.encoding)
    return answer


def is_value(value: object) -> bool:
    """Whether `fetch` can send it: by its very type, for a number of an enumeration has another text."""
    return type(value) in _WRITERS


def _written(value: Value) -> tuple[int, bytes | None]:
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise TypeError(f"{type(value).__name__} is no value of a statement")
    return writer(value)


def _by_cursor(wrapper: Any, sql: str, values: Mapping[str, Any]) -> list[Row]:
    # With the same types, so that both ways have the same meaning: psycopg sends a small number as a `smallint`.
    typed = {name: Int8(value) if type(value) is int else value for name, value in values.items()}
    with wrapper.cursor() as cursor:
        cursor.execute(sql, typed)
        rows: list[Row] = cursor.fetchall()
    return rows
