"""Tests of access to the admin, and of its first page."""

from collections.abc import Callable
from typing import Any

import pytest
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from accounts.identity.services.activation import create_invite
from accounts.models import AuditEntry, User
from accounts.policies.staff import staff_of
from accounts.queries.site_settings import BACKUP_SETTING
from accounts.services.audit import write_setting
from moderation.policies.documents import RuleDraft, SiteTexts
from moderation.services.documents import change_site, create_rule
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_user
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db


def test_the_first_page_shows_pending_work_and_health_in_at_most_20_statements(settings: Any) -> None:
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
    for words in ("Waiting for you", "Retention", "Website", "PostgreSQL"):
        assert words in page, words
    assert ("Servers in trouble" in page) == apps.is_installed("federation")


def test_the_owner_of_a_new_server_is_shown_what_to_do_first_until_it_is_done(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    user = make_user("boss", role="Owner")
    client, by = signed_in(user), staff_of(user)

    def steps() -> list[str]:
        answer = client.get("/admin/")
        shown = [step["title"] for step in answer.context["first_steps"]]
        assert ("First steps" in answer.content.decode()) == bool(shown)
        return shown

    everything = [
        "Describe this server", "Name a contact", "Write the rules", "Choose who may sign up",
        "Invite somebody", "Protect your account", "Take backups",
    ]  # fmt: skip
    assert steps() == everything
    for step in client.get("/admin/").context["first_steps"]:
        assert not step["link"] or client.get(step["link"], follow=True).status_code == 200, step
    change_site(by=by, texts=SiteTexts(site_title="Ours"))
    assert steps() == everything, "an empty text counts as missing"
    acts: list[Callable[[], object]] = [
        lambda: change_site(by=by, texts=SiteTexts(site_short_description="A server")),
        lambda: change_site(by=by, texts=SiteTexts(site_short_description="A server", site_contact_username="boss")),
        lambda: create_rule(by=by, draft=RuleDraft("Be kind")),
        lambda: write_setting("site_registrations", "closed"),
        lambda: create_invite(by=by, inviter=user),
        lambda: TOTP.activate(user, generate_totp_secret()),
        lambda: write_setting(BACKUP_SETTING, "2026-01-01"),
    ]
    for number, act in enumerate(acts, start=1):
        act()
        assert steps() == everything[number:]
    write_setting("site_registrations", "")
    assert steps() == ["Choose who may sign up"]
    settings.FIXED_SITE_SETTINGS = frozenset({"REGISTRATIONS"})
    assert steps() == []


def test_only_staff_with_the_permission_for_settings_can_hide_the_first_steps(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    client, moderator = signed_in(make_user("boss", role="Owner")), signed_in(make_user("mod", role="Moderator"))
    assert "first_steps" not in moderator.get("/admin/").context
    path = "/admin/accounts/sitesetting/first-steps/"
    assert moderator.post(path).status_code == 403
    client.get(path)
    assert client.get("/admin/").context["first_steps"]
    assert client.post(path, follow=True).context["first_steps"] == []
    assert AuditEntry.objects.get().target_name == "first_steps_hidden"


def test_every_part_of_the_admin_has_a_name_in_the_language_of_its_reader() -> None:
    with translation.override("ar"):
        names = {str(model._meta.app_config.verbose_name) for model in admin.site._registry}
    assert [name for name in names if name.isascii()] == []


def test_a_moderator_sees_figures_but_no_technical_data(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    moderator = make_user("mod", role="Moderator")
    answer = signed_in(moderator).get("/admin/")
    assert "charts" in answer.context
    assert "lanes" not in answer.context
    assert "Outbox rows" not in {task["title"] for task in answer.context["tasks"]}


def test_an_owner_without_a_second_factor_is_asked_to_add_one_and_returns_to_the_page(settings: Any) -> None:
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


def test_a_user_waiting_for_approval_sees_only_that_on_the_first_page() -> None:
    user = make_user("newcomer")
    User.objects.filter(id=user.id).update(approved=False)
    page = signed_in(user).get("/").content.decode()
    assert "Your account is waiting" in page
    assert "/settings/delete" in page
    assert "/settings/preferences" not in page
    assert "open any app" not in page
