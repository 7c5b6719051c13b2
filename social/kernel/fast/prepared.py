"""Runs a statement directly through libpq, once its connection has prepared it.

The plain alternative is Django's cursor around psycopg's, which takes a hundred microseconds for each statement, several times
as long as reading its rows. `social.kernel.statements` chooses between them. Values and rows pass through psycopg's adapters.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import psycopg
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import DiagnosticField, ExecStatus

Row = tuple[Any, ...]

_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s|%%")
_UNKNOWN_NAME: Final = b"26000"  # invalid_sql_statement_name


_TYPES: Final = psycopg.adapters.types
# As in psycopg, PostgreSQL infers the type of a text, of a list of texts, of NULL and of an empty list from its position in the
# statement.
_FOUND_BY_PLACE: Final = 0


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
#: For each Python type, the function that returns what is sent for a value: the OID of its PostgreSQL type, and its text.
_WRITERS: Final[dict[type, Callable[[Any], tuple[int, bytes | None]]]] = {
    int: lambda value: (_INT8, b"%d" % value),
    str: lambda value: (_FOUND_BY_PLACE, value.encode()),
    datetime: lambda value: (_TIMESTAMPTZ, value.isoformat().encode()),
    list: _list,
    type(None): lambda value: (_FOUND_BY_PLACE, None),
}


class Statement(NamedTuple):
    """Statement in PostgreSQL's syntax, with the names of its values in their order."""

    name: bytes
    sql: bytes
    values: tuple[str, ...]


class Session(NamedTuple):
    """State of one connection: the names of its prepared statements, keyed by statement and types, and its reader of rows."""

    prepared: dict[tuple[bytes, tuple[int, ...]], bytes]
    transformer: Any  # psycopg's, in C or in Python


_sessions: WeakKeyDictionary[psycopg.Connection[Any], Session | None] = WeakKeyDictionary()


_numbers: Final = itertools.count()


@cache
def statement(sql: str) -> Statement:
    """Translate a statement with the placeholders `%(name)s` into PostgreSQL's syntax."""
    values: list[str] = []

    def number(found: re.Match[str]) -> str:
        name = found[1]
        if name is None:
            return "%"
        if name not in values:
            values.append(name)
        return f"${values.index(name) + 1}"

    numbered = _PLACEHOLDER.sub(number, sql).encode()
    return Statement(b"fixed_%d" % next(_numbers), numbered, tuple(values))


def session(raw: psycopg.Connection[Any]) -> Session | None:
    """Return the state of a connection; None for a connection without prepared statements, as behind a pooler."""
    try:
        return _sessions[raw]
    except KeyError:
        new = None if raw.prepare_threshold is None else Session({}, Transformer(raw.adapters))
        return _sessions.setdefault(raw, new)


def run(
    raw: psycopg.Connection[Any],
    known: Session,
    asked: Statement,
    values: Sequence[tuple[int, bytes | None]],
) -> list[Row]:
    """Return all rows of a statement, on a connection that is in no transaction. Raises psycopg.Error."""
    result = _execute(raw, known, asked, values)
    transformer = known.transformer
    transformer.set_pgresult(result)
    rows: list[Row] = transformer.load_rows(0, result.ntuples, tuple)
    transformer.set_pgresult(None)
    return rows


def _execute(
    raw: psycopg.Connection[Any],
    session: Session,
    statement: Statement,
    written: Sequence[tuple[int, bytes | None]],
) -> Any:
    types = tuple([oid for oid, _text in written])
    # None stands for NULL, which psycopg's type declaration lacks.
    sent: Any = [text for _oid, text in written]
    mark = statement.name, types
    name = session.prepared.get(mark)
    if name is not None:
        result = raw.pgconn.exec_prepared(name, sent)
        if result.status == ExecStatus.TUPLES_OK:
            return result
        if result.error_field(DiagnosticField.SQLSTATE) != _UNKNOWN_NAME:
            raise _error(raw, result)
        # psycopg deallocates all statements after a transaction has been rolled back. Nothing was executed, so a retry is safe.
        del session.prepared[mark]
    name = b"%b_%b" % (statement.name, b"_".join(b"%d" % oid for oid in types))
    answer = raw.pgconn.prepare(name, statement.sql, types)
    if answer.status == ExecStatus.COMMAND_OK:
        session.prepared[mark] = name
        answer = raw.pgconn.exec_prepared(name, sent)
    if answer.status != ExecStatus.TUPLES_OK:
        raise _error(raw, answer)
    return answer


def _error(raw: psycopg.Connection[Any], result: Any) -> psycopg.Error:
    """Return the error of a result. An error without an SQLSTATE comes from libpq: the connection has been lost."""
    if result.error_field(DiagnosticField.SQLSTATE) is None:
        return psycopg.OperationalError(result.get_error_message(raw.info.encoding))
    return error_from_result(result, encoding=raw.info.encoding)


def is_value(value: object) -> bool:
    """Tell whether `written` accepts a value. Only the exact type counts, because members of an `IntEnum` are written
    differently.
    """
    return type(value) in _WRITERS


def written(value: object) -> tuple[int, bytes | None]:
    """Return the form in which a value is sent: the OID of its type, and its text. Raises TypeError for other types."""
    writer = _WRITERS.get(type(value))
    if writer is None:
        raise TypeError(f"{type(value).__name__} is no value of a statement")
    return writer(value)
