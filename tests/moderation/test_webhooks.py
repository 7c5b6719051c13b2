"""Tests of webhooks: events are sent to addresses that staff choose, signed as in Mastodon; slow receivers do not delay
anything else.
"""

import hashlib
import hmac
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from django.db.models.functions import Now
from django.test import Client

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.signing_up import sign_up
from accounts.models import AuditEntry, Role, User
from accounts.models.user import Permission
from accounts.policies.staff import OPERATOR, NotPermitted, Staff
from accounts.services.key_pairs import reencrypt_all
from accounts.services.sanctions import (
    limit_account,
    sensitize_account,
    suspend_account,
    unlimit_account,
    unsensitize_account,
    unsuspend_account,
)
from moderation.models import Report, Webhook, WebhookAttempt, WebhookCall, WebhookEvent
from moderation.policies.webhooks import ATTEMPTS_KEPT, WebhookDraft, body_of
from moderation.senders.webhooks import CALLS
from moderation.services.reports import resolve_report
from moderation.services.webhooks import create_webhook, reencrypt_secrets, switch_webhook
from social.kernel.crypto import decrypt
from social.kernel.errors import Invalid
from social.kernel.runner import TERMS, Host
from tests.factories.accounts import make_token, make_user
from tests.support.client import Api, signed_in
from tests.support.push import PushService, Received, push_service
from tests.support.work import work

pytestmark = pytest.mark.django_db
PAGES = "/admin/moderation/webhook/"
ALL = tuple(WebhookEvent.values)


@pytest.fixture
def receiver(settings: Any) -> Iterator[PushService]:
    """A web server on this machine that records the requests it gets."""
    settings.FEDERATION_LOOPBACK = True
    settings.STAFF_SECOND_FACTOR = False
    with push_service() as running:
        yield running


def read(received: Received, webhook: Webhook) -> tuple[str, Any]:
    """Check the signature of a call, and return its event and object."""
    secret = decrypt(webhook.secret).encode()
    assert received.headers["X-Hub-Signature"] == f"sha256={hmac.digest(secret, received.body, hashlib.sha256).hex()}"
    assert received.headers["Content-Type"] == "application/json"
    payload = orjson.loads(received.body)
    assert set(payload) == {"event", "created_at", "object"}
    return payload["event"], payload["object"]


def call_again() -> None:
    """Run the queued calls without the pauses after failures."""
    WebhookCall.objects.update(due_at=Now())
    Host.objects.update(retry_at=Now())
    CALLS.run()


def test_a_webhook_is_called_for_accounts_reports_and_posts(receiver: PushService, settings: Any) -> None:
    settings.CONFIRM_EMAIL = False
    bob = make_user("bob")
    work()
    webhook = create_webhook(by=OPERATOR, draft=WebhookDraft(receiver.endpoint(), ALL))
    ada = sign_up(
        draft=SignUpDraft("ada", "ada@example.org", "correct horse battery", agreement=True, reason="to talk")
    )
    work()
    calls = [read(each, webhook) for each in receiver.at()]
    assert sorted(event for event, _found in calls) == ["account.approved", "account.created"]
    assert {(found["username"], found["email"]) for _event, found in calls} == {("ada", "ada@example.org")}

    receiver.received.clear()
    api = Api(make_token(ada))
    post = api.post("/api/v1/statuses", {"status": "hello", "visibility": "public"}).json()
    hidden = api.post("/api/v1/statuses", {"status": "between us", "visibility": "private"}).json()
    api.request("PUT", f"/api/v1/statuses/{post['id']}", {"status": "hello again"})
    work()
    calls = [read(each, webhook) for each in receiver.at()]
    # At this point both calls are queued, and queued calls run at the same time.
    assert sorted(event for event, _found in calls) == ["status.created", "status.updated"]
    assert {found["id"] for _event, found in calls} == {post["id"]}

    receiver.received.clear()
    sent = {"account_id": ada.account_id, "status_ids": [post["id"]], "comment": "rude"}
    Api(make_token(bob)).post("/api/v1/reports", sent)
    report = Report.objects.get()
    Report.objects.update(status_ids=[int(post["id"]), int(hidden["id"])])
    resolve_report(by=OPERATOR, report=report)
    limit_account(by=OPERATOR, account=ada.account)
    work()
    calls = [read(each, webhook) for each in receiver.at()]
    found = dict(calls)
    assert sorted(event for event, _found in calls) == ["account.updated", "report.created", "report.updated"]
    assert found["report.created"]["comment"] == "rude"
    assert found["report.updated"]["action_taken"]
    assert [one["id"] for one in found["report.updated"]["statuses"]] == [post["id"]]
    assert found["account.updated"]["silenced"]
    assert not WebhookCall.objects.exists()
    statuses = list(WebhookAttempt.objects.values_list("status", "error").distinct())
    assert statuses == [(201, "")]


@pytest.mark.parametrize(
    "acts",
    [
        (limit_account, unlimit_account),
        (sensitize_account, unsensitize_account),
        (suspend_account, unsuspend_account),
    ],
)
def test_each_action_of_staff_on_an_account_causes_one_call(receiver: PushService, acts: tuple[Any, ...]) -> None:
    account = make_user("ada").account
    work()
    create_webhook(by=OPERATOR, draft=WebhookDraft(receiver.endpoint(), (WebhookEvent.ACCOUNT_UPDATED,)))
    for act in acts:
        receiver.received.clear()
        act(by=OPERATOR, account=account)
        work()
        assert len(receiver.at()) == 1, act.__name__


def test_a_template_is_filled_in_as_json() -> None:
    payload = {"event": "a", "object": {"name": 'An "A"\n', "ips": [{"ip": "::1"}], "none": None, "count": 3}}
    template = '{"text": "{{object.name}} {{ event }}", "ip": "{{object.ips[0].ip}}", "rest": [{{object.count}}, {{object.x}}]}'
    assert orjson.loads(body_of(payload, template)) == {
        "text": 'An "A"\n a',
        "ip": "::1",
        "rest": [3, None],
    }
    assert body_of(payload, "{{ {{event}} {{__class__}} {{object.ips[7].ip}}") == "{{ a null null"
    assert orjson.loads(body_of(payload, "  ")) == payload


def test_a_failing_webhook_is_retried_then_given_up_and_delays_no_other(receiver: PushService) -> None:
    webhook = create_webhook(by=OPERATOR, draft=WebhookDraft(receiver.endpoint("dead"), ("status.created",)))
    other = create_webhook(by=OPERATOR, draft=WebhookDraft(receiver.endpoint("well"), ("status.created",)))
    receiver.answers["/dead"] = 503
    api = Api(make_token(make_user("ada")))
    api.post("/api/v1/statuses", {"status": "one"})
    work()
    call_again()
    assert len(receiver.at("well")) == 1
    for _attempt in range(TERMS["webhooks"].attempts):
        call_again()
    assert len(receiver.at("dead")) == TERMS["webhooks"].attempts
    assert WebhookCall.objects.get().dead_at is not None
    attempts = WebhookAttempt.objects.filter(webhook=webhook)
    assert {(each.status, each.error) for each in attempts} == {(503, "503")}
    assert WebhookAttempt.objects.filter(webhook=other).count() == 1
    # A call is not retried after a permanent error from the receiver.
    receiver.answers["/dead"] = 410
    Host.objects.all().delete()
    api.post("/api/v1/statuses", {"status": "two"})
    work()
    call_again()
    assert WebhookCall.objects.filter(dead_at=None).count() == 0
    assert len(receiver.at("dead")) == TERMS["webhooks"].attempts + 1


def test_the_numbers_of_waiting_calls_and_stored_attempts_are_limited(
    receiver: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moderation.senders.webhooks.ATTEMPTS_KEPT", 2)
    webhook = create_webhook(by=OPERATOR, draft=WebhookDraft(receiver.endpoint(), ("status.created",)))
    api = Api(make_token(make_user("ada")))
    for number in range(3):
        api.post("/api/v1/statuses", {"status": f"{number}"})
    work()
    assert WebhookAttempt.objects.filter(webhook=webhook).count() == 2 < ATTEMPTS_KEPT
    assert TERMS["webhooks"].waiting <= 500
    switch_webhook(by=OPERATOR, webhook=webhook, enabled=False)
    api.post("/api/v1/statuses", {"status": "unheard"})
    work()
    assert len(receiver.at()) == 3


@pytest.mark.parametrize(
    "url", ["http://hooks.example/", "https://10.0.0.1/", "https://social.localhost/", "ftp://a.example", "words", ""]
)
def test_addresses_on_private_networks_and_on_this_server_are_refused(url: str) -> None:
    with pytest.raises(Invalid):
        create_webhook(by=OPERATOR, draft=WebhookDraft(url, ALL))
    assert not Webhook.objects.exists()


def test_choosing_events_requires_the_permission_to_see_their_content() -> None:
    alone = Staff(1, "@ada", Permission.MANAGE_WEBHOOKS, 10)
    draft = WebhookDraft("https://hooks.example/", ("report.created",))
    with pytest.raises(NotPermitted):
        create_webhook(by=alone, draft=draft)
    both = Staff(1, "@ada", Permission.MANAGE_WEBHOOKS | Permission.MANAGE_REPORTS, 10)
    webhook = create_webhook(by=both, draft=draft)
    switch_webhook(by=alone, webhook=webhook, enabled=False)
    with pytest.raises(NotPermitted):
        switch_webhook(by=alone, webhook=webhook, enabled=True)
    with pytest.raises(NotPermitted):
        switch_webhook(by=Staff(1, "@ada", Permission.MANAGE_REPORTS, 10), webhook=webhook, enabled=False)


def test_a_new_encryption_key_opens_the_secrets_of_webhooks(settings: Any) -> None:
    webhook = create_webhook(by=OPERATOR, draft=WebhookDraft("https://hooks.example/", ALL))
    secret = decrypt(webhook.secret)
    new = "b3BlbiBzZXNhbWUgb3BlbiBzZXNhbWUgb3BlbiBzZXM="
    list(reencrypt_all(by=OPERATOR, keys=[new, *settings.FIELD_ENCRYPTION_KEYS]))
    assert reencrypt_secrets(by=OPERATOR, keys=[new, *settings.FIELD_ENCRYPTION_KEYS]) == 1
    settings.FIELD_ENCRYPTION_KEYS = [new]
    webhook.refresh_from_db()
    assert decrypt(webhook.secret) == secret


def test_webhooks_are_created_changed_enabled_and_removed_in_the_admin(receiver: PushService) -> None:
    role = Role.objects.create(
        name="Hooks", position=5, permissions=Permission.MANAGE_WEBHOOKS | Permission.VIEW_DEVOPS
    )
    user = make_user("helper")
    User.objects.filter(pk=user.pk).update(role=role)
    browser: Client = signed_in(User.objects.get(pk=user.pk))
    added = {"url": receiver.endpoint(), "events": ["status.created"], "template": ""}
    assert browser.post(f"{PAGES}add/", added).status_code == 302
    webhook = Webhook.objects.get()
    path = f"{PAGES}{webhook.pk}/change/"
    page = browser.get(path).content.decode()
    assert decrypt(webhook.secret) in page
    assert decrypt(webhook.secret) not in browser.get(PAGES).content.decode()
    refused = browser.post(
        f"{PAGES}add/", {"url": "https://10.0.0.1/", "events": ["status.created"], "template": "kept"}
    )
    assert ("kept" in refused.content.decode(), Webhook.objects.count()) == (True, 1)
    refused = browser.post(path, added | {"events": ["report.created"]})
    assert "Your role does not allow this." in refused.content.decode()
    assert browser.post(path, added | {"template": "{{event}}"}).status_code == 302
    browser.post(f"{PAGES}{webhook.pk}/renew_secret/", {"confirmed": "yes"})
    changed = Webhook.objects.get()
    assert changed.template == "{{event}}"
    assert decrypt(changed.secret) != decrypt(webhook.secret)
    Api(make_token(make_user("ada"))).post("/api/v1/statuses", {"status": "one"})
    work()
    assert [each.body for each in receiver.at()] == [b"status.created"]
    assert "201" in browser.get(path).content.decode()
    browser.post(f"{PAGES}{webhook.pk}/delete/", {"post": "yes"})
    assert not Webhook.objects.exists()
    acts = AuditEntry.objects.filter(target_type="Webhook").order_by("id").values_list("action", flat=True)
    assert list(acts) == ["create", "update", "renew_secret", "destroy"]
