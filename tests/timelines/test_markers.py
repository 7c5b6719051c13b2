"""Tests of markers of read positions (contract, behaviours section 11)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections, transaction

from social.kernel.locks import lock
from tests.support.at_once import at_once
from tests.timelines.conftest import Person
from timelines.models import Marker
from timelines.services import markers

MARKERS = "/api/v1/markers"


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let requests wait longer for the lock, so that a busy machine does not cause conflicts."""
    monkeypatch.setattr(markers, "_LOCK_SECONDS", 60.0)


def save(who: Person, **positions: Any) -> Any:
    answer = who.api.post(MARKERS, {name: {"last_read_id": value} for name, value in positions.items()})
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.django_db
def test_seed_023_a_marker_is_stored_as_sent_and_its_version_grows_with_each_change(
    reader: Person, author: Person
) -> None:
    both = {"timeline[]": ["home", "notifications"]}
    assert reader.api.get(MARKERS, both).json() == {}
    first = reader.api.post(MARKERS, form="home%5Blast_read_id%5D=100").json()
    assert first == {"home": {"last_read_id": "100", "version": 1, "updated_at": first["home"]["updated_at"]}}
    second = save(reader, home="200", notifications="7")
    assert [(name, mark["last_read_id"], mark["version"]) for name, mark in second.items()] == [
        ("home", "200", 2),
        ("notifications", "7", 1),
    ]
    assert save(reader, home="200")["home"] == second["home"], "the same position changes nothing"
    back = save(reader, home=100)
    assert (back["home"]["last_read_id"], back["home"]["version"]) == ("100", 3)
    assert reader.api.get(MARKERS, both).json() == {**back, "notifications": second["notifications"]}
    assert reader.api.get(MARKERS, {"timeline": "home"}).json() == back
    assert reader.api.get(MARKERS).json() == {}
    assert author.api.get(MARKERS, both).json() == {}


@pytest.mark.django_db
def test_invalid_positions_and_unknown_timelines_change_nothing(reader: Person) -> None:
    save(reader, home="5")
    for sent in ({}, {"nonsense": {"last_read_id": "9"}}, {"home": "9"}, {"home": ["9"]}):
        assert reader.api.post(MARKERS, sent).json() == {}
    for empty in ({"home": {}}, {"home": {"last_read_id": ""}}, {"home": {"last_read_id": None}}):
        assert reader.api.post(MARKERS, empty).json()["home"]["last_read_id"] == "5"
    for wrong in ("abc", "-1", str(2**63), "9" * 100, 2.0**64):
        answer = reader.api.post(MARKERS, {"home": {"last_read_id": wrong}})
        assert (answer.status_code, answer.json()) == (422, {"error": "Validation failed: Last read id is invalid"})
    assert Marker.objects.get().version == 1


@pytest.mark.django_db(transaction=True)
def test_simultaneous_writes_succeed_and_never_move_a_marker_back(reader: Person, patient: None) -> None:
    save(reader, home="100")
    made = at_once(8, lambda place: save(reader, home=str(101 + place), notifications="7"))
    assert [type(answer) for answer in made] == [dict] * 8, made
    stored = reader.api.get(MARKERS, {"timeline[]": ["home", "notifications"]}).json()
    # Requests that do not overlap are stored in the order in which they arrive.
    assert stored["home"]["last_read_id"] in {answer["home"]["last_read_id"] for answer in made}
    assert (stored["notifications"]["last_read_id"], stored["notifications"]["version"]) == ("7", 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("written", "kept"), [("300", "300"), ("200", "200"), ("150", "200")])
def test_a_write_that_had_to_wait_only_moves_a_marker_forwards(
    reader: Person, patient: None, written: str, kept: str
) -> None:
    save(reader, home="100")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            lock(f"markers:{reader.id}")
            Marker.objects.filter(account_id=reader.id).update(last_read_id=200)
            waiting = pool.submit(_in_thread, lambda: save(reader, home=written))
            while not _somebody_waits():
                assert not waiting.done(), waiting.result()
        assert waiting.result()["home"]["last_read_id"] == kept
    assert save(reader, home="50")["home"]["last_read_id"] == "50", "without a concurrent write it is stored as sent"


def _in_thread(action: Callable[[], Any]) -> Any:
    try:
        return action()
    finally:
        connection.close()


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
            " WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()"
        )
        (number,) = cursor.fetchone()
    return bool(number)


@pytest.mark.django_db(transaction=True)
def test_a_write_that_waits_for_another_too_long_gets_a_conflict(reader: Person) -> None:
    other = connections.create_connection("default")
    other.ensure_connection()
    reader.api.get(MARKERS)
    try:
        with transaction.atomic():
            lock(f"markers:{reader.id}")
            # The request uses a separate connection, as a request in another process would.
            kept, connections["default"] = connections["default"], other
            try:
                answer = reader.api.post(MARKERS, {"home": {"last_read_id": "5"}})
            finally:
                connections["default"] = kept
    finally:
        other.close()
    assert (answer.status_code, answer.json()) == (409, {"error": "Conflict during update, please try again"})
    assert connection.ensure_connection() is None
    assert save(reader, home="5")["home"]["version"] == 1
