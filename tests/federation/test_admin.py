"""Operators look at what comes in and goes out, see no private posts there, and have deliveries tried again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEntry, User
from federation.inbound.processing import forget_processed
from federation.models import Delivery, InboundActivity, OutboundActivity
from social.kernel import clock
from social.kernel.runner import Host, forget_given_up
from tests.factories.accounts import make_remote, make_user

pytestmark = pytest.mark.django_db
SECRET = "for your eyes only"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


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
