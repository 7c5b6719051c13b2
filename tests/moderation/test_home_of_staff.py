"""The way into the admin, and its first page."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_first_page_shows_what_waits_and_how_the_server_is_in_at_most_20_statements(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client = signed_in(make_user("boss", role="Owner"))
    client.get("/admin/")
    for number in range(12):
        User.objects.filter(id=make_user().id).update(approved=False)
        OutboxRow.objects.create(queue="default", key=f"k{number}", subscriber="s", event="e", payload={})
    with CaptureQueriesContext(connection) as queries:
        answer = client.get("/admin/")
    assert len(queries) <= 20
    tasks = {task["title"]: task["count"] for task in answer.context["tasks"]}
    assert tasks["Sign-ups"] == "12"
    assert {chart["title"]: chart["total"] for chart in answer.context["charts"]}["People who signed up"] == 13
    lanes = {row[0]: row[1] for row in answer.context["lanes"]["rows"]}
    assert lanes["Within this server"] >= 12
    page = answer.content.decode()
    for words in ("What waits for you", "Who stayed", "Website", "PostgreSQL", "Servers in trouble"):
        assert words in page, words


def test_a_moderator_sees_figures_but_nothing_of_the_machinery(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    moderator = make_user("mod", role="Moderator")
    answer = signed_in(moderator).get("/admin/")
    assert "charts" in answer.context
    assert "lanes" not in answer.context
    assert "Outbox rows" not in {task["title"] for task in answer.context["tasks"]}


def test_an_owner_without_a_second_factor_is_shown_why_and_comes_back_after(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = True
    boss = make_user("boss", role="Owner")
    client = signed_in(boss)
    asked = client.get("/admin/accounts/account/?q=ann", follow=True)
    assert asked.request["PATH_INFO"] == "/auth/second_factor"
    assert "The administration needs a second factor" in asked.content.decode()
    TOTP.activate(boss, generate_totp_secret())
    page = client.get("/auth/second_factor").content.decode()
    assert 'href="/admin/accounts/account/?q=ann"' in page
    assert client.get("/admin/accounts/account/?q=ann").status_code == 200
    assert "administration" not in client.get("/auth/second_factor").content.decode()


def test_who_waits_for_approval_sees_that_and_nothing_else() -> None:
    user = make_user("newcomer")
    User.objects.filter(id=user.id).update(approved=False)
    page = signed_in(user).get("/").content.decode()
    assert "Your account is waiting" in page
    assert "/settings/delete" in page
    assert "/settings/preferences" not in page
    assert "open any app" not in page
