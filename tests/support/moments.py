"""Sets the clocks of Python and PostgreSQL to another time."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import time_machine
from django.db import connection

from social.kernel import clock

# The times of transactions and statements are fixed; `clock_timestamp()` keeps running, so that ids differ.
_CLOCKS: Final = {
    "now": "STABLE RETURN '{moment}'::timestamptz",
    "statement_timestamp": "STABLE RETURN '{moment}'::timestamptz",
    "clock_timestamp": "VOLATILE RETURN '{moment}'::timestamptz + (pg_catalog.clock_timestamp() - '{actual}'::timestamptz)",
}


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    """Stop Python's clock at `moment`, and PostgreSQL's for the transaction of the test, so that ids and times of both agree.

    Only CURRENT_TIMESTAMP remains the actual time.
    """
    with time_machine.travel(moment, tick=False), connection.cursor() as cursor:
        cursor.execute("SELECT pg_catalog.clock_timestamp()")
        (actual,) = cursor.fetchone()
        cursor.execute("CREATE SCHEMA IF NOT EXISTS moments")
        for name, body in _CLOCKS.items():
            defined = body.format(moment=moment.astimezone(UTC), actual=actual.astimezone(UTC))
            cursor.execute(f"CREATE OR REPLACE FUNCTION moments.{name}() RETURNS timestamptz LANGUAGE sql {defined}")
        # The schema of PostgreSQL's own functions must be named, because otherwise it would be searched first.
        cursor.execute("SET LOCAL search_path TO moments, pg_catalog, public")
        yield
        cursor.execute("SET LOCAL search_path TO DEFAULT")


def at_noon() -> AbstractContextManager[None]:
    """Stop the clocks at noon of the next day.

    No day ends during a test that counts by days, and everything that was stored before is in the past.
    """
    return at((clock.now() + timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0))
