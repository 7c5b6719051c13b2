"""Another moment for Python and PostgreSQL alike."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import time_machine
from django.db import connection

from social.kernel import clock

# The moments of a transaction and of a statement stand still; ids differ by the one that goes on.
_CLOCKS: Final = {
    "now": "STABLE RETURN '{moment}'::timestamptz",
    "statement_timestamp": "STABLE RETURN '{moment}'::timestamptz",
    "clock_timestamp": "VOLATILE RETURN '{moment}'::timestamptz + (pg_catalog.clock_timestamp() - '{actual}'::timestamptz)",
}


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Python's clock stands still at `moment`, and so does PostgreSQL's for the transaction of the test: what Python calls
    now belongs with the ids and the times that PostgreSQL gives. CURRENT_TIMESTAMP alone stays the actual time.
    """
    with time_machine.travel(moment, tick=False), connection.cursor() as cursor:
        cursor.execute("SELECT pg_catalog.clock_timestamp()")
        (actual,) = cursor.fetchone()
        cursor.execute("CREATE SCHEMA IF NOT EXISTS moments")
        for name, body in _CLOCKS.items():
            defined = body.format(moment=moment.astimezone(UTC), actual=actual.astimezone(UTC))
            cursor.execute(f"CREATE OR REPLACE FUNCTION moments.{name}() RETURNS timestamptz LANGUAGE sql {defined}")
        # The schema of PostgreSQL's own functions comes first wherever it is not named.
        cursor.execute("SET LOCAL search_path TO moments, pg_catalog, public")
        yield
        cursor.execute("SET LOCAL search_path TO DEFAULT")


def at_noon() -> AbstractContextManager[None]:
    """`at` noon of tomorrow: no day ends while a test counts what happened on it, and what was stored before is over."""
    return at((clock.now() + timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0))
