"""Tests of the setting for sign-ups: staff choose it unless the environment sets it, and all pages and endpoints follow it."""

import re
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from django.utils import translation

from accounts.models import AuditEntry
from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import find_registrations
from accounts.services.audit import write_setting
from moderation.admin.audit_sentences import sentence
from moderation.policies.documents import SiteTexts
from moderation.services.documents import change_site
from social.kernel.errors import Invalid
from tests.factories.accounts import make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
PAGE = "/admin/accounts/sitesetting/"


@pytest.fixture
def boss(settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    settings.REGISTRATIONS = "open"
    client = Client()
    client.force_login(make_user("boss", role="Owner"))
    return client


def fields_of(client: Client) -> dict[str, str]:
    form = client.get(PAGE).context["form"]
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value is not None and value is not False}


def choose(client: Client, mode: str) -> None:
    answer = client.post(PAGE, fields_of(client) | {"site_registrations": mode})
    assert answer.status_code == 302, re.findall(r'class="errors[^<]*', answer.content.decode())


def readers() -> dict[str, Any]:
    """Return whether sign-ups are open, as each page and endpoint shows it."""
    new, old = Api().get("/api/v2/instance").json()["registrations"], Api().get("/api/v1/instance").json()
    form = Client().get("/auth/sign_up").content.decode()
    assert new["enabled"] == old["registrations"] == ("Create an account" in Client().get("/").content.decode())
    assert new["enabled"] != ("does not accept new accounts" in form)
    assert new["approval_required"] == old["approval_required"] == ("A person reviews every request" in form)
    found = {"enabled": new["enabled"], "approval": new["approval_required"]}
    if apps.is_installed("federation"):
        found["open"] = Client().get("/nodeinfo/2.0").json()["openRegistrations"]
    return found


def expected(*, enabled: bool, approval: bool, is_open: bool) -> dict[str, Any]:
    found = {"enabled": enabled, "approval": approval}
    return found | ({"open": is_open} if apps.is_installed("federation") else {})


def test_the_registrations_that_staff_choose_apply_everywhere_and_are_audited(boss: Client, settings: Any) -> None:
    for mode, shown in (
        ("", expected(enabled=True, approval=False, is_open=True)),
        ("closed", expected(enabled=False, approval=False, is_open=False)),
        ("approval", expected(enabled=True, approval=True, is_open=False)),
        ("open", expected(enabled=True, approval=False, is_open=True)),
    ):
        choose(boss, mode)
        assert readers() == shown, mode
        assert find_registrations() == (mode or "open")
    with translation.override("en"):
        said = [sentence(entry) for entry in AuditEntry.objects.order_by("id")]
    assert said == [
        "@boss closed sign-up",
        "@boss made sign-ups depend on approval by staff",
        "@boss opened sign-up to everybody",
    ]
    choose(boss, "")
    settings.REGISTRATIONS = "approval"
    assert find_registrations() == "approval", "without a choice the current default applies"
    assert "The default: People whom staff approve" in boss.get(PAGE).content.decode()


@pytest.mark.parametrize(("mode", "status"), [("closed", 403), ("approval", 422)])
def test_the_api_obeys_the_registration_setting_of_staff(boss: Client, mode: str, status: int) -> None:
    write_setting("site_registrations", mode)
    api = Api()
    sent = {"username": "ada", "email": "ada@example.com", "password": "a long password", "agreement": "true"}
    body = {"client_name": "An app", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": "read write"}
    app = api.post("/api/v1/apps", body).json()
    grant = {key: app[key] for key in ("client_id", "client_secret")}
    token = api.post("/oauth/token", grant | {"grant_type": "client_credentials", "scope": "read write"}).json()
    answer = Api(token["access_token"]).post("/api/v1/accounts", sent)
    assert answer.status_code == status, answer.content


def test_the_environment_takes_precedence_and_the_form_says_so(boss: Client, settings: Any) -> None:
    write_setting("site_registrations", "open")
    settings.REGISTRATIONS, settings.FIXED_SITE_SETTINGS = "closed", frozenset({"REGISTRATIONS"})
    assert find_registrations() == "closed"
    assert readers()["enabled"] is False
    page = boss.get(PAGE)
    assert "set in the server's environment as REGISTRATIONS" in page.content.decode()
    field = page.context["form"]["site_registrations"]
    assert (field.value(), field.field.disabled) == ("closed", True)
    choose(boss, "approval")
    assert find_registrations() == "closed"
    settings.FIXED_SITE_SETTINGS = frozenset()
    assert find_registrations() == "open", "the earlier choice applies again"


def test_an_unknown_registration_mode_is_refused(boss: Client) -> None:
    with pytest.raises(Invalid):
        change_site(by=OPERATOR, texts=SiteTexts(site_registrations="sometimes"))
