"""Tests of the admin pages for federation: they show activities and deliveries, hide private posts, and offer retries."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Account, AccountStat, AuditEntry, Domain, Role, User
from accounts.models.user import Permission
from federation.inbound.processing import forget_processed
from federation.models import Delivery, InboundActivity, OutboundActivity
from federation.remote import servers
from moderation.models import DomainRule
from social.kernel import clock
from social.kernel.runner import Host, forget_given_up
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import follow
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
SECRET = "for your eyes only"


@pytest.fixture
def delivery(settings: Any) -> Delivery:
    settings.STAFF_SECOND_FACTOR = False
    activity = OutboundActivity.objects.create(
        account=make_user("alice").account, type="Create", uri="https://a.example/1", body=SECRET
    )
    InboundActivity.objects.create(fingerprint="f", actor=make_remote("zoe"), type="Create", uri="u", body=SECRET)
    Host.objects.create(queue="deliveries", name="b.example", failures=3, retry_at=clock.now() + timedelta(days=365))
    return Delivery.objects.create(
        activity=activity,
        inbox_url="https://b.example/inbox",
        host="b.example",
        key="status:1",
        attempts=16,
        dead_at=clock.now(),
    )


def test_every_list_and_row_opens_without_the_bodies(delivery: Delivery) -> None:
    client = signed_in(make_user("boss", role="Owner"))
    rows = {
        "federation/delivery": delivery.pk,
        "federation/outboundactivity": delivery.activity_id,
        "federation/inboundactivity": InboundActivity.objects.get().pk,
        "social/host": Host.objects.get().pk,
    }
    for name, key in rows.items():
        for path in (f"/admin/{name}/", f"/admin/{name}/{key}/change/"):
            answer = client.get(path)
            assert (answer.status_code, SECRET in answer.content.decode()) == (200, False), path


def test_a_delivery_that_was_given_up_is_tried_again(delivery: Delivery) -> None:
    chosen = {"action": "retry_now", "_selected_action": [delivery.pk]}
    answer = signed_in(make_user("boss", role="Owner")).post("/admin/federation/delivery/", chosen, follow=True)
    assert answer.status_code == 200
    delivery.refresh_from_db()
    assert (delivery.dead_at, delivery.attempts, Host.objects.get().failures) == (None, 0, 0)
    entry = AuditEntry.objects.get(target_type="Delivery")
    assert (entry.account_name, entry.action, entry.target_id) == ("@boss", "retry", delivery.pk)


def test_people_who_do_not_manage_federation_see_nothing(delivery: Delivery) -> None:
    assert signed_in(make_user("somebody")).get("/admin/federation/delivery/", follow=True).status_code == 403


def test_old_rows_are_deleted(delivery: Delivery) -> None:
    long_ago = clock.now().replace(year=2020)
    assert (forget_processed(), forget_given_up()) == (0, 0)
    Delivery.objects.update(dead_at=long_ago)
    InboundActivity.objects.update(processed_at=long_ago)
    assert (forget_processed(), forget_given_up()) == (1, 1)
    assert not OutboundActivity.objects.exists()


@pytest.fixture
def server(delivery: Delivery) -> Domain:
    """A failing server with a follower of a local account, a rule, and deliveries that are queued or were given up."""
    alice = delivery.activity.account
    zoe = make_remote("zoe", "b.example")
    follow(zoe, alice)
    AccountStat.objects.update_or_create(account=zoe, defaults={"following_count": 1})
    activity = OutboundActivity.objects.create(account=alice, type="Update", uri="https://a.example/2", body=SECRET)
    inbox = "https://b.example/inbox"
    Delivery.objects.create(activity=activity, inbox_url=inbox, host="b.example", key="status:2", attempts=1)
    DomainRule.objects.create(domain="b.example", severity="silence")
    make_remote("bob", "well.example")
    Domain.objects.get_or_create(name="well.example")
    return Domain.objects.get_or_create(name="b.example")[0]


def test_each_known_server_is_shown_with_its_accounts_queue_and_availability(server: Domain) -> None:
    client = signed_in(make_user("boss", role="Owner"))
    client.get("/admin/accounts/domain/")
    with CaptureQueriesContext(connection) as few:
        listed = client.get("/admin/accounts/domain/")
    text = listed.content.decode()
    assert (listed.status_code, text.count("Paused after failures"), text.count("Reachable")) == (200, 1, 1)
    assert "limited" in text
    for number in range(5):
        Domain.objects.create(name=f"s{number}.example")
    with CaptureQueriesContext(connection) as many:
        client.get("/admin/accounts/domain/")
    assert len(many) == len(few)
    page = client.get(f"/admin/accounts/domain/{server.pk}/change/")
    assert (page.status_code, page.context["original"].rule.severity) == (200, "silence")
    figures = page.context["original"].figures
    asked = ("accounts", "followed", "followers", "waiting", "failing", "given_up", "failures", "state")
    assert [figures[name] for name in asked] == [1, 0, 1, 1, 1, 1, 3, "backing off"]
    Host.objects.update(failing_since=clock.now() - timedelta(days=8))
    assert "Unavailable for a week" in client.get("/admin/accounts/domain/").content.decode()


def test_staff_can_retry_a_failing_server_and_the_deliveries_that_were_given_up(server: Domain) -> None:
    answer = act(signed_in(make_user("boss", role="Owner")), server, "ask_again")
    assert answer.status_code == 302
    assert not Delivery.objects.exclude(attempts=0, dead_at=None).exists()
    assert Host.objects.get().failures == 0
    written = AuditEntry.objects.filter(action="retry", account_name="@boss").values_list("target_type", flat=True)
    assert sorted(written) == ["Delivery", "Delivery", "Domain"]


def test_deliveries_to_a_server_are_dropped(server: Domain) -> None:
    assert act(signed_in(make_user("boss", role="Owner")), server, "drop_deliveries").status_code == 302
    assert not Delivery.objects.exists()
    assert AuditEntry.objects.filter(action="discard", account_name="@boss").count() == 2


def test_all_data_of_a_server_is_removed_in_steps(server: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "BATCH_SIZE", 2)
    for number in range(4):
        make_remote(f"p{number}", "b.example")
    boss = make_user("boss", role="Owner")
    assert act(signed_in(boss), server, "purge").status_code == 302
    assert Account.objects.filter(domain="b.example", deleted_at=None).count() == 5, (
        "the rows are removed in the background"
    )
    work()
    assert not Account.objects.filter(domain="b.example", deleted_at=None).exists()
    assert Account.objects.filter(domain="well.example", deleted_at=None).exists()
    assert not Domain.objects.filter(name="b.example").exists()
    entry = AuditEntry.objects.get(action="purge")
    assert (entry.account_id, entry.target_name) == (boss.account_id, "b.example")


def test_removing_a_server_requires_the_permission_to_delete_user_data(server: Domain) -> None:
    keeper = make_user("keeper", role="Owner")
    role = Role.objects.create(
        name="Keeper", position=5, permissions=Permission.MANAGE_FEDERATION | Permission.VIEW_DASHBOARD
    )
    User.objects.filter(id=keeper.id).update(role=role)
    client = signed_in(keeper)
    assert client.get(f"/admin/accounts/domain/{server.pk}/change/").status_code == 200
    assert act(client, server, "purge").status_code == 403
    assert act(signed_in(make_user("somebody")), server, "drop_deliveries").status_code in (302, 403)
    work()
    assert Account.objects.filter(domain="b.example", deleted_at=None).exists()
    assert Delivery.objects.count() == 2


def act(client: Client, server: Domain, name: str) -> Any:
    """Press a button on the server's page, and confirm the action if the page asks for confirmation."""
    page = reverse(f"admin:accounts_domain_{name}", args=[server.pk])
    asked = client.get(page)
    return client.post(page, {"_confirmed": "yes", "confirmed": "yes"}) if asked.status_code == 200 else asked
