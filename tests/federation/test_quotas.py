"""Tests of limits on what one actor, or one server, can make this server store (security row 61)."""

import time
from collections import OrderedDict
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import F, Sum

from accounts.models import Account
from federation.inbound import posts, quotas
from federation.models import InboundActivity, Tombstone
from federation.remote.actors import fetch_actor
from statuses.models import Status
from tests.factories.statuses import follow
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.work import work

pytestmark = pytest.mark.django_db


def kept_bytes() -> int:
    """Return the total size of the documents in the table of received activities."""
    return sum(len(body) for body in InboundActivity.objects.values_list("body", flat=True))


def test_row_61_activities_of_ignored_types_are_not_stored(zoe: RemotePerson, alice: Account) -> None:
    fetch_actor(zoe.uri)
    for number in range(150):
        answer = zoe.send(zoe.activity("Listen", f"https://example.org/{number}", summary="x" * 10_000))
        assert answer.status_code == 202
    assert InboundActivity.objects.count() == 0


def test_row_61_a_document_is_stored_only_until_it_was_processed(zoe: RemotePerson, alice: Account) -> None:
    fetch_actor(zoe.uri)
    assert zoe.send(zoe.activity("Create", zoe.note("x" * 100_000))).status_code == 202
    assert kept_bytes() > 100_000
    work()
    assert InboundActivity.objects.get().outcome.startswith("rejected")
    assert kept_bytes() == 0


def test_row_61_deletions_by_unknown_actors_are_dropped_without_being_stored(
    elsewhere: RemoteServer, alice: Account
) -> None:
    accounts = Account.objects.count()
    for number in range(300):
        ghost = RemotePerson(elsewhere, f"ghost{number}")
        ghost_post = f"{ghost.uri}/statuses/1"
        assert ghost.send(ghost.activity("Delete", {"id": ghost_post, "type": "Tombstone"})).status_code == 202
    assert (elsewhere.asked, Account.objects.count()) == ([], accounts)
    assert (InboundActivity.objects.count(), Tombstone.objects.count()) == (0, 0)


def test_row_61_waiting_activities_of_one_actor_are_limited_in_number(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "WAITING_OF_ACTOR", 3)
    yan = zoe.home.person("yan")
    answers = [zoe.send(zoe.activity("Create", zoe.note())).status_code for _ in range(5)]
    assert answers == [202, 202, 202, 429, 429]
    assert yan.send(yan.activity("Create", yan.note())).status_code == 202, "the limit does not affect other actors"
    work()
    assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 202, "processed activities no longer count"


def test_row_61_waiting_activities_of_one_actor_are_limited_in_bytes(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "BYTES_OF_ACTOR", 300_000)
    answers = [zoe.send(zoe.activity("Create", zoe.note("x" * 90_000))).status_code for _ in range(5)]
    assert answers == [202, 202, 202, 429, 429]
    stored = InboundActivity.objects.aggregate(size=Sum("size"))["size"]
    assert 270_000 < stored <= 300_000


@pytest.mark.parametrize(("bound", "value"), [("WAITING_OF_HOST", 3), ("BYTES_OF_HOST", 300_000)])
def test_row_61_waiting_activities_of_one_server_are_limited_however_many_actors_it_has(
    elsewhere: RemoteServer, alice: Account, monkeypatch: pytest.MonkeyPatch, bound: str, value: int
) -> None:
    monkeypatch.setattr(quotas, bound, value)
    people = [elsewhere.person(f"person{number}") for number in range(5)]
    answers = [one.send(one.activity("Create", one.note("x" * 90_000))).status_code for one in people]
    assert answers == [202, 202, 202, 429, 429]
    with RemoteServer().running() as other:
        yan = other.person("yan")
        assert yan.send(yan.activity("Create", yan.note())).status_code == 202


def test_row_61_activities_of_one_actor_are_limited_per_day(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "DAILY_OF_ACTOR", 3)
    for _ in range(3):
        assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 202
        work()
    assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 429
    InboundActivity.objects.update(received_at=F("received_at") - timedelta(days=1))
    assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 202


def test_row_61_waiting_activities_are_counted_rarely_and_the_limits_still_hold(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counting reads all queued rows, so it is not repeated for each activity of a busy sender."""
    monkeypatch.setattr(quotas, "WAITING_OF_ACTOR", 40)
    counted: list[int] = []
    count = quotas._count

    def note(actor_id: int, host: str) -> Any:
        counted.append(actor_id)
        return count(actor_id, host)

    monkeypatch.setattr(quotas, "_count", note)
    answers = [zoe.send(zoe.activity("Create", zoe.note())).status_code for _ in range(45)]
    assert answers == [202] * 40 + [429] * 5
    assert len(counted) < 25
    # A second process does not share the cached counts of the first one, so it counts again.
    monkeypatch.setattr(quotas, "_rooms", OrderedDict())
    assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 429
    work()
    assert [zoe.send(zoe.activity("Create", zoe.note())).status_code for _ in range(2)] == [202, 202]
    counted.clear()
    before = time.monotonic()
    monkeypatch.setattr(quotas, "time", SimpleNamespace(monotonic=lambda: before + quotas._COUNT_PERIOD))
    assert zoe.send(zoe.activity("Create", zoe.note())).status_code == 202
    assert len(counted) == 1, "an outdated count is computed again"


def test_row_61_deletions_of_unknown_posts_are_remembered_for_a_while_in_a_limited_number(
    zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "UNKNOWN_OF_ACTOR", 5)
    follow(alice, fetch_actor(zoe.uri))
    for number in range(12):
        zoe.send(zoe.activity("Delete", zoe.note(number=number)["id"]))
        zoe.send(zoe.activity("Undo", zoe.activity("Like", f"https://example.org/{number}")))
    work()
    assert Tombstone.objects.count() == 5
    assert not Tombstone.objects.filter(expires_at=None).exists()
    assert timedelta(days=2) < posts.UNKNOWN_RETENTION


def test_a_deleted_post_that_was_stored_here_never_comes_back(zoe: RemotePerson, alice: Account) -> None:
    follow(alice, fetch_actor(zoe.uri))
    zoe.send(zoe.activity("Create", zoe.note()))
    zoe.send(zoe.activity("Delete", zoe.note()["id"]))
    work()
    assert Tombstone.objects.get().expires_at is None
    assert not Status.objects.filter(deleted_at=None).exists()


def _nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("more", "status"),
    [
        # The document counts as the first level of nesting, and each nested list as a further level.
        pytest.param({"x": _nested(31)}, 202, id="as deep as it may be"),
        pytest.param({"x": _nested(32)}, 400, id="too deep"),
        pytest.param({"to": ["https://example.org/x"] * 1000}, 202, id="as long as it may be"),
        pytest.param({"to": ["https://example.org/x"] * 1001}, 400, id="too long"),
        pytest.param({"x": "y" * 1_000_000}, 202, id="as large as it may be"),
        pytest.param({"x": "y" * (1 << 20)}, 413, id="too large"),
    ],
)
def test_row_34_signed_bodies_are_limited_too(
    zoe: RemotePerson, alice: Account, more: dict[str, object], status: int
) -> None:
    """The request is signed, so only its size can be the reason for the refusal."""
    fetch_actor(zoe.uri)
    assert zoe.send(zoe.activity("Create", zoe.note(), **more)).status_code == status
    assert InboundActivity.objects.count() == (1 if status == 202 else 0)
