"""Promises of moments from the database: aware, in UTC, exact to the microsecond, and none for NULL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


def ask(sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[0]


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026-11-20 13:16:50.064123+00", datetime(2026, 11, 20, 13, 16, 50, 64123, UTC)),
        ("2026-11-20 13:16:50+05:30", datetime(2026, 11, 20, 7, 46, 50, 0, UTC)),
        ("0001-01-02 00:00:00+00", datetime(1, 1, 2, tzinfo=UTC)),
        ("9999-12-31 23:59:59.999999+00", datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)),
    ],
)
def test_a_moment_is_aware_and_exact(written: str, expected: datetime) -> None:
    found = ask(f"SELECT '{written}'::timestamptz")
    assert found == expected
    assert found.utcoffset() == timedelta(0)
    assert found.isoformat() == expected.isoformat()


def test_no_moment_is_none_and_lists_hold_moments() -> None:
    assert ask("SELECT NULL::timestamptz") is None
    assert ask("SELECT ARRAY['2026-11-20T00:00:00Z'::timestamptz]") == [datetime(2026, 11, 20, tzinfo=UTC)]


def test_psycopgs_loader_is_in_use() -> None:
    # Django takes its own, slow one back when it does not recognise the time zone of the connection's.
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        loader = cursor.cursor.adapters.get_loader(1184, 0)
    assert loader.__name__ == "_UtcLoader"
