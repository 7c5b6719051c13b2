"""Tests of values sent to PostgreSQL and back: times are aware, in UTC and exact, and lists are unchanged."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import DataError, connection
from django.db.models import Value

from tests.factories.accounts import make_remote
from tests.factories.statuses import make_remote_status
from timelines.models import Conversation

pytestmark = pytest.mark.django_db


def ask(sql: str, *parameters: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
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
def test_timestamps_are_aware_and_exact(written: str, expected: datetime) -> None:
    found = ask(f"SELECT '{written}'::timestamptz")
    assert found == expected
    assert found.utcoffset() == timedelta(0)
    assert found.isoformat() == expected.isoformat()


def test_a_null_timestamp_is_none_and_arrays_contain_timestamps() -> None:
    assert ask("SELECT NULL::timestamptz") is None
    assert ask("SELECT ARRAY['2026-11-20T00:00:00Z'::timestamptz]") == [datetime(2026, 11, 20, tzinfo=UTC)]


def test_timestamps_are_loaded_by_psycopg() -> None:
    # Django restores its own slow loader if it does not recognise the time zone of the connection.
    with connection.cursor() as cursor:
        cursor.execute("SELECT now()")
        loader = cursor.cursor.adapters.get_loader(1184, 0)
    assert loader.__name__ == "_UtcLoader"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1], "bigint[]"),
        ([2**63 - 1, -(2**63), 0], "bigint[]"),
        ([], "bigint[]"),
        ([], "text[]"),
        ([1, None, 3], "bigint[]"),
        ([None], "bigint[]"),
        ([True, False], "boolean[]"),
        ([[1, 2], [3, 4]], "bigint[]"),
        (["a,b", '{"}', "NULL", "", None], "text[]"),
        ([1, 2], "smallint[]"),
        ([1.5, 2.5], "double precision[]"),
    ],
)
def test_a_list_is_unchanged_in_the_database(values: list[Any], kind: str) -> None:
    assert ask(f"SELECT %s::{kind}", values) == values


def test_ids_can_be_compared_with_columns_of_any_width() -> None:
    assert ask("SELECT 5::smallint = ANY(%s)", [4, 5]) is True
    assert ask("SELECT 5::bigint = ANY(%s)", [4, 6]) is False


def test_a_number_too_large_for_a_column_is_an_error() -> None:
    with pytest.raises(DataError):
        ask("SELECT %s::bigint[]", [2**63])


def test_large_numbers_keep_their_value_without_a_known_field() -> None:
    large, small = 2**48 + 7, 7
    person = make_remote()
    post = make_remote_status(person)
    for participants in ([large], [small]):
        Conversation.objects.create(
            account_id=person.pk, thread_id=1, participants=participants, key=str(participants), last_status=post
        )
    for lookup in ("contains", "overlap", "contained_by"):
        found = Conversation.objects.filter(**{f"participants__{lookup}": [large]})
        assert [conversation.participants for conversation in found] == [[large]], lookup
    assert Conversation.objects.annotate(number=Value(large)).values_list("number", flat=True).first() == large
