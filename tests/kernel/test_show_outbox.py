"""Tests of the outbox for operators: rows are listed with reasons, and can be retried or dropped, in the shell or the admin."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.messages.storage.fallback import FallbackStorage
from django.core.management import CommandError, call_command
from django.http import HttpRequest
from django.test import RequestFactory

from accounts.models import AuditEntry
from social.admin import OutboxRowAdmin
from social.kernel.clock import now
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db


def row(queue: str = "default", **values: Any) -> OutboxRow:
    """Create a row for a test event."""
    terms = {"key": "thing:1", "subscriber": "tests.react", "event": "Happened", "payload": {"thing_id": 1}}
    return OutboxRow.objects.create(**{"queue": queue, "attempts": 0, "last_error": "", **terms, **values})


def show(*arguments: str) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command("show_outbox", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_reports_an_empty_outbox() -> None:
    assert "empty" in show()


def test_the_table_shows_queues_and_rows_with_their_errors() -> None:
    row(dead_at=now(), attempts=12, last_error="ValueError: no\nat x.py:1")
    row("feeds", due_at=now() + timedelta(hours=1))
    text = show()
    assert "ValueError: no" in text
    assert "scheduled" in text
    assert "dead" in text
    assert "feeds" in text
    assert "feeds" not in show("--queue", "default")
    assert "scheduled" not in show("--dead")


def test_the_json_output_is_complete() -> None:
    made = row(attempts=2, last_error="E", claimed_until=now() + timedelta(minutes=1))
    found = json.loads(show("--json"))
    assert found["rows"][0]["id"] == made.pk
    assert found["rows"][0]["state"] == "running"
    assert found["rows"][0]["payload"] == {"thing_id": 1}
    (figures,) = found["queues"]
    assert set(figures) == {"queue", "depth", "dead", "oldest", "p99"}


def test_rows_can_be_retried_and_discarded_by_a_command() -> None:
    first, second = row(dead_at=now(), attempts=12), row(dead_at=now(), attempts=12)
    assert json.loads(show("--retry", str(first.pk), "--json")) == {"retried": 1}
    first.refresh_from_db()
    assert (first.dead_at, first.attempts) == (None, 0)
    assert json.loads(show("--retry", "all", "--json")) == {"retried": 1}
    show("--discard", str(second.pk))
    assert list(OutboxRow.objects.all()) == [first]
    assert audited() == [
        ("operator", "retry", first.pk, "Happened for tests.react (thing:1)"),
        ("operator", "retry", 0, "all dead rows"),
        ("operator", "discard", second.pk, "Happened for tests.react (thing:1)"),
    ]
    assert AuditEntry.objects.latest("id").details["payload"] == {"thing_id": 1}


def audited() -> list[tuple[str, str, int, str]]:
    """Return the entries of the audit log: the account, the action and the row."""
    assert not AuditEntry.objects.exclude(target_type="OutboxRow").exists()
    return list(AuditEntry.objects.order_by("id").values_list("account_name", "action", "target_id", "target_name"))


@pytest.mark.parametrize("arguments", [("--retry", "99999999"), ("--retry", "x"), ("--discard", "99999999")])
def test_unknown_rows_are_errors(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        show(*arguments)


def test_a_claimed_row_is_not_changed() -> None:
    made = row(claim=1, claimed_until=now() + timedelta(minutes=1))
    with pytest.raises(CommandError):
        show("--discard", str(made.pk))
    with pytest.raises(CommandError):
        show("--retry", str(made.pk))


@pytest.fixture
def request_of() -> Callable[[Any], HttpRequest]:
    """A function that returns a user's request to the admin."""

    def make(user: Any) -> HttpRequest:
        request = RequestFactory().post("/admin/social/outboxrow/", {"action": "discard", "confirmed": "yes"})
        request.user = user
        request.session = {}
        request._messages = FallbackStorage(request)
        return request

    return make


def test_the_admin_is_read_only_except_for_its_two_actions(request_of: Callable[[Any], HttpRequest]) -> None:
    request = request_of(make_user("boss", role="Owner"))
    OutboxRow.objects.all().delete()  # removes the events of the new account
    made = row(dead_at=now(), attempts=12)
    held = row(claim=1, claimed_until=now() + timedelta(minutes=1))
    site: OutboxRowAdmin = admin.site._registry[OutboxRow]
    assert site.has_view_permission(request)
    assert not site.has_add_permission(request)
    assert not site.has_change_permission(request, made)
    assert not site.has_delete_permission(request, made)
    assert set(site.get_actions(request)) == {"retry", "discard"}
    site.retry(request, OutboxRow.objects.filter(pk=made.pk))
    made.refresh_from_db()
    assert made.dead_at is None
    site.discard(request, OutboxRow.objects.all())
    assert list(OutboxRow.objects.all()) == [held]
    assert audited() == [
        ("@boss", "retry", made.pk, "Happened for tests.react (thing:1)"),
        ("@boss", "discard", made.pk, "Happened for tests.react (thing:1)"),
    ]


def test_users_without_the_permission_get_no_actions(request_of: Callable[[Any], HttpRequest]) -> None:
    site: OutboxRowAdmin = admin.site._registry[OutboxRow]
    assert not site.get_actions(request_of(make_user()))


@pytest.mark.parametrize(
    ("option", "words"), [(["--limit", "-1"], "from 1"), (["--queue", "nothing"], "There is no queue nothing")]
)
def test_contradictory_options_are_errors(option: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        call_command("show_outbox", *option)
