"""Rules for servers in the admin: made, changed, taken back, and brought as a file after a look at what it would end."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from accounts.models import AuditEntry, Domain
from moderation.models import DomainAllow, DomainRule
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow

pytestmark = pytest.mark.django_db
RULES = "/admin/moderation/domainrule/"
ALLOWED = "/admin/moderation/domainallow/"
FILE = b"#domain,#severity\nbad.example,suspend\nnot a domain,silence\n"


@pytest.fixture(autouse=True)
def _no_second_factor(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False


def signed_in(name: str, role: str | None) -> Client:
    client = Client()
    client.force_login(make_user(name, role=role), backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


@pytest.fixture
def client() -> Client:
    return signed_in("boss", "Owner")


def brought(client: Client, **sent: str) -> Any:
    file = SimpleUploadedFile("rules.csv", FILE)
    return client.post(f"{RULES}import_file/", {"confirmed": "yes", "rules": file, **sent}, follow=True)


def test_a_rule_is_made_changed_and_taken_back_and_each_is_written_down(client: Client) -> None:
    client.post(f"{RULES}add/", {"domain": "Bad.Example", "severity": "silence", "public_comment": "Spam"})
    rule = DomainRule.objects.get(domain="bad.example", severity="silence", public_comment="Spam")
    client.post(f"{RULES}{rule.pk}/change/", {"severity": "suspend", "public_comment": ""})
    rule.refresh_from_db()
    assert (rule.domain, rule.severity) == ("bad.example", "suspend")
    client.post(f"{RULES}{rule.pk}/delete/", {"post": "yes"})
    assert not DomainRule.objects.exists()
    acts = AuditEntry.objects.filter(target_type="DomainRule").order_by("id").values_list("action", flat=True)
    assert list(acts) == ["create", "update", "destroy"]


def test_a_file_is_looked_at_before_it_is_taken_in(client: Client) -> None:
    Domain.objects.get_or_create(name="bad.example")
    follow(make_account("anna"), make_remote("zoe", "bad.example"))
    page = brought(client, only_show="on").content.decode()
    assert "@anna → @zoe@bad.example" in page
    assert "no domain of another server" in page
    assert not DomainRule.objects.exists()
    brought(client)
    assert list(DomainRule.objects.values_list("domain", "severity")) == [("bad.example", "suspend")]
    exported = b"".join(client.get(f"{RULES}export_file/").streaming_content).decode()  # type: ignore[attr-defined]
    assert "bad.example,suspend" in exported


@pytest.mark.parametrize("domain", ["not a domain", "", "social.localhost", "x" * 300])
def test_what_is_no_other_server_is_refused_with_the_reason(client: Client, domain: str) -> None:
    for path in (RULES, ALLOWED):
        answer = client.post(f"{path}add/", {"domain": domain, "severity": "suspend"}, follow=True)
        assert "error" in answer.content.decode()
    assert not DomainRule.objects.exists()
    assert not DomainAllow.objects.exists()


def test_a_server_is_let_in_and_out_again(client: Client) -> None:
    client.post(f"{ALLOWED}add/", {"domain": "good.example"})
    allowed = DomainAllow.objects.get(domain="good.example")
    client.post(f"{ALLOWED}{allowed.pk}/delete/", {"post": "yes"})
    assert not DomainAllow.objects.exists()


def test_nobody_else_sees_or_brings_rules() -> None:
    moderator = signed_in("moderator", None)
    for path in (RULES, f"{RULES}import_file/", f"{RULES}export_file/", ALLOWED):
        assert moderator.get(path).status_code in (302, 403)
