"""Tests of the instance documents, which clients request first (clients.md E1, traps 7, 26, 27; SEED-035, 037)."""

from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings as django_settings

from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, Permission
from accounts.services.audit import write_setting
from moderation.models import InstanceRule
from moderation.queries.instance import count_active
from social.kernel import clock
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def document(path: str = "/api/v2/instance") -> dict[str, Any]:
    answer = Api().get(path)
    assert answer.status_code == 200, answer.content
    assert answer["Cache-Control"] == "public, max-age=300"
    body: dict[str, Any] = answer.json()
    return body


def test_version_and_numbers_are_what_clients_parse() -> None:
    instance = document()
    assert instance["version"].startswith("4.6.5+social.")
    assert instance["api_versions"] == {"mastodon": 11}
    assert instance["domain"] == "social.localhost"
    assert isinstance(instance["contact"]["email"], str)
    assert instance["configuration"]["statuses"] == {
        "max_characters": 500,
        "max_media_attachments": 4,
        "characters_reserved_per_url": 23,
    }
    assert isinstance(instance["configuration"]["media_attachments"]["supported_mime_types"], list)
    assert instance["configuration"]["vapid"]["public_key"] == django_settings.VAPID_PUBLIC_KEY
    assert set(instance["configuration"]["polls"]) == {
        "max_options",
        "max_characters_per_option",
        "min_expiration",
        "max_expiration",
    }


def test_streams_are_advertised_in_both_documents_as_websockets() -> None:
    assert document()["configuration"]["urls"]["streaming"].startswith("ws")
    assert document("/api/v1/instance")["urls"]["streaming_api"].startswith("ws")


def test_the_old_document_has_a_bare_domain_and_is_marked_deprecated() -> None:
    instance = document("/api/v1/instance")
    assert instance["uri"] == "social.localhost"
    assert instance["max_toot_chars"] == 500
    assert set(instance["stats"]) == {"user_count", "status_count", "domain_count"}
    assert Api().get("/api/v1/instance")["Deprecation"].startswith("@")


@pytest.mark.parametrize(
    ("mode", "enabled", "approval"), [("open", True, False), ("approval", True, True), ("closed", False, False)]
)
def test_registrations_say_what_sign_up_will_do(settings: Any, mode: str, enabled: bool, approval: bool) -> None:
    settings.REGISTRATIONS = mode
    registrations = document()["registrations"]
    assert (registrations["enabled"], registrations["approval_required"]) == (enabled, approval)
    assert (registrations["message"] is None) is enabled
    assert document("/api/v1/instance")["registrations"] is enabled


def test_limited_federation_is_shown_and_hides_the_number_of_active_users(settings: Any) -> None:
    User.objects.filter(id=make_user().id).update(active_at=clock.now())
    settings.LIMITED_FEDERATION = True
    instance = document()
    assert instance["configuration"]["limited_federation"] is True
    assert instance["usage"]["users"]["active_month"] == 0


def test_invitations_are_shown_as_available_if_everybody_may_invite() -> None:
    assert document("/api/v1/instance")["invites_enabled"] is bool(_everyone().permissions & Permission.INVITE_USERS)
    for permissions, enabled in ((Permission.INVITE_USERS, True), (0, False)):
        Role.objects.filter(id=EVERYONE_ROLE_ID).update(permissions=permissions)
        assert document("/api/v1/instance")["invites_enabled"] is enabled


def _everyone() -> Role:
    return Role.objects.get(id=EVERYONE_ROLE_ID)


def test_rules_keep_their_order_and_withdrawn_ones_are_not_shown() -> None:
    InstanceRule.objects.create(text="Second", position=2)
    InstanceRule.objects.create(text="First", hint="Why", position=1, translations={"de": {"text": "Eins", "hint": ""}})
    InstanceRule.objects.create(text="Gone", position=0, withdrawn_at=InstanceRule.objects.first().created_at)
    rules = Api().get("/api/v1/instance/rules").json()
    assert [rule["text"] for rule in rules] == ["First", "Second"]
    assert all(isinstance(rule["id"], str) for rule in rules)
    assert set(rules[0]) == {"id", "text", "hint", "translations"}
    assert document()["rules"] == rules


def test_the_contact_account_is_shown_when_set() -> None:
    make_user("boss")
    write_setting("site_contact_username", "boss")
    write_setting("site_contact_email", "boss@example.com")
    contact = document()["contact"]
    assert contact["account"]["acct"] == "boss"
    assert contact["email"] == "boss@example.com"


def test_the_instance_document_counts_users() -> None:
    make_user()
    make_user()
    assert document("/api/v1/instance")["stats"]["user_count"] == 2


def _active() -> tuple[int, int]:
    usage = document()["usage"]["users"]["active_month"]
    return usage, count_active(clock.now() - timedelta(days=180))


def test_users_count_as_active_for_four_weeks_after_reading_posting_or_signing_in() -> None:
    now = clock.now()
    recent, long_ago = now - timedelta(days=27), now - timedelta(days=29)
    reader, visitor, writer, sleeper, thrown_out, waiting = (make_user() for _ in range(6))
    User.objects.filter(id=reader.id).update(active_at=recent)
    User.objects.filter(id=visitor.id).update(active_at=long_ago, last_login=recent)
    make_status(writer.account, "hello")
    User.objects.filter(id=sleeper.id).update(active_at=long_ago, last_login=long_ago)
    User.objects.filter(id=thrown_out.id).update(active_at=recent, disabled_at=now)
    User.objects.filter(id=waiting.id).update(active_at=recent, approved=False)
    assert _active() == (3, 4)


def test_reading_the_home_timeline_counts_as_activity() -> None:
    user = make_user()
    assert _active() == (0, 0)
    assert Api(make_token(user)).get("/api/v1/timelines/home").status_code == 200
    assert _active() == (1, 1)
