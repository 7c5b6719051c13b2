"""Runs fixed SQL statements: prepared on their connections (`social.kernel.fast.prepared`), or by a cursor.

Callers see no difference: connections come from Django, values and rows pass through psycopg's adapters, errors are Django's. A
cursor is used in a transaction, while statements are counted or forbidden, and with a pooler without prepared statements.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8

from social.kernel.fast import is_plain, prepared
from social.kernel.fast.prepared import is_value

__all__ = ["Row", "Value", "is_value", "rows_of"]

Row = tuple[Any, ...]
Value = int | str | datetime | list[int] | list[str] | None
_PLAIN: Final = is_plain("statements")


def rows_of(sql: str, values: Mapping[str, Value]) -> list[Row]:
    """Return all rows of a statement with the placeholders `%(name)s`, as `cursor.execute` and `fetchall` return them.

    A number is sent as a `bigint`. Only for statements that are written in the code, because each statement is cached for ever,
    and prepared on each connection that runs it. Raises django.db.Error, and TypeError for a value of a type that `Value` does
    not list.
    """
    wrapper: Any = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is None:
        wrapper.ensure_connection()
    raw: psycopg.Connection[Any] = wrapper.connection
    statement = prepared.statement(sql)
    # Values are encoded before one of the two ways is chosen, so that both ways refuse the same values.
    written = [prepared.written(values[name]) for name in statement.values]
    session = None if _PLAIN else prepared.session(raw)
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
        return prepared.run(raw, session, statement, written)


def _by_cursor(wrapper: Any, sql: str, values: Mapping[str, Any]) -> list[Row]:
    # The types are the same whether the statement is prepared or run by a cursor, so that the statement has the same meaning;
    # by default, psycopg would send a small number as a `smallint`.
    typed = {name: Int8(value) if type(value) is int else value for name, value in values.items()}
    with wrapper.cursor() as cursor:
        cursor.execute(sql, typed)
        rows: list[Row] = cursor.fetchall()
    return rows
