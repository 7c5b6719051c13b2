"""Tests of pushes that are refused or fail, wait for a slow push service, or may no longer be sent."""

import time
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection

from accounts.identity.services.staff import disable
from accounts.identity.services.tokens import revoke_tokens
from accounts.models import AccessToken
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import suspend_account
from notifications.models import Notification, Push, PushSubscription
from notifications.policies.push import LIFETIME
from notifications.senders import web_push
from social.kernel import clock
from social.kernel.runner import TERMS, Host
from tests.factories.accounts import make_account, make_token
from tests.factories.push import make_push_subscription
from tests.notifications.pushing import DEVICE, Person, ann, make_notification, push_again, pushed, queue, service
from tests.support.push import PushService, push_service
from tests.support.work import work

__all__ = ["ann", "service"]
pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413])
def test_a_subscription_that_a_push_service_refuses_ends(
    ann: Person, bob: Person, service: PushService, status: int
) -> None:
    ann.subscribe(service.endpoint("gone"))
    other = make_push_subscription(make_token(ann.user), service.endpoint("here"), device=DEVICE)
    service.answers["/gone"] = status
    bob.do(f"accounts/{ann.id}/follow")
    work()
    assert list(PushSubscription.objects.all()) == [other]
    assert not Push.objects.exists()
    assert len(service.opened(DEVICE, "here")) == 1


@pytest.mark.parametrize("status", [301, 408, 429, 500, 503])
def test_other_failures_are_tried_again_five_times(ann: Person, bob: Person, service: PushService, status: int) -> None:
    ann.subscribe(service.endpoint())
    service.answers["/one"] = status
    bob.do(f"accounts/{ann.id}/follow")
    work()
    for _time in range(7):
        push_again()
    assert len(service.at()) == 6
    assert PushSubscription.objects.exists()
    assert Push.objects.get().dead_at is not None


def test_failed_pushes_are_sent_when_the_push_service_works_again(
    ann: Person, bob: Person, service: PushService
) -> None:
    ann.subscribe(service.endpoint())
    service.answers["/one"] = 503
    bob.do(f"accounts/{ann.id}/follow")
    work()
    service.answers.clear()
    push_again()
    first, second = service.opened(DEVICE)
    assert first == second
    assert not Push.objects.exists()


@pytest.mark.verify
def test_one_slow_push_service_delays_no_other(
    ann: Person, bob: Person, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_push, "DEADLINE", 1.0)
    people = [Person(f"reader{number}") for number in range(12)]
    arrived: list[float] = []
    with push_service() as slow:
        slow.before = lambda _request: time.sleep(2.0)
        for number, person in enumerate(people):
            person.subscribe((slow if number < 6 else service).endpoint(str(number)))
        service.before = lambda _request: arrived.append(time.monotonic())
        made = [make_notification(person, bob.account) for person in people]
        began = time.monotonic()
        queue(*made)
        work()
        assert len(arrived) == 6
        assert arrived[-1] - began < 1.0
        # One request is sent at a time, and the other pushes are not sent until it succeeds.
        assert Host.objects.get(name=slow.address.removeprefix("http://")).failures == 1
        assert Push.objects.count() == 6


def test_row_24_a_private_mention_is_never_pushed_to_a_token_that_was_revoked(
    ann: Person, bob: Person, service: PushService
) -> None:
    ann.do(f"accounts/{bob.id}/follow")
    ann.subscribe(service.endpoint())
    other = make_push_subscription(make_token(ann.user), service.endpoint("other"), device=DEVICE)
    bob.post("@ann between us", visibility="direct")
    queue(Notification.objects.create(account_id=ann.id, from_account_id=bob.id, type="mention", cause="x"))
    revoke_tokens(AccessToken.objects.filter(token=ann.token))
    work()
    assert service.at() == []
    assert {message["body"] for message in service.opened(DEVICE, "other")} == {"@ann between us", ""}
    assert list(PushSubscription.objects.all()) == [other]


def test_row_24_pushes_waiting_for_a_slow_service_are_not_sent_after_the_token_was_revoked(
    ann: Person, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is revoked while the first push of a claimed batch runs."""
    monkeypatch.setattr(web_push, "_FRESHNESS", 0.0)
    monkeypatch.setitem(TERMS, "pushes", replace(TERMS["pushes"], per_host=1, cautious=False))
    ann.subscribe(service.endpoint())
    queue(*(make_notification(ann, make_account()) for _time in range(3)))
    original = web_push.fetch_async

    async def end_the_token(*place: Any, **values: Any) -> Any:
        answer = await original(*place, **values)
        ended.append(True)
        return answer

    ended: list[bool] = []
    steps = web_push._push

    def revoking(job: Any, messages: Any) -> Any:
        if ended:
            AccessToken.objects.filter(token=ann.token).delete()
        yield from steps(job, messages)

    monkeypatch.setattr(web_push, "fetch_async", end_the_token)
    monkeypatch.setattr(web_push, "_push", revoking)
    work()
    assert len(service.at()) == 1


@pytest.mark.parametrize(
    "change", ["suspended", "disabled", "sender suspended", "post deleted", "undone", "old", "alerts"]
)
def test_the_content_of_a_push_is_read_when_it_is_sent(
    ann: Person, bob: Person, service: PushService, change: str
) -> None:
    ann.subscribe(service.endpoint())
    post = ann.post("mine")
    bob.do(f"statuses/{post['id']}/favourite")
    service.answers["/one"] = 503
    work()
    assert pushed(ann) == ["favourite"]
    match change:
        case "suspended":
            suspend_account(by=OPERATOR, account=ann.account)
        case "disabled":
            disable(by=OPERATOR, user=ann.user)
        case "sender suspended":
            suspend_account(by=OPERATOR, account=bob.account)
        case "post deleted":
            ann.do(f"statuses/{post['id']}", method="DELETE")
        case "undone":
            bob.do(f"statuses/{post['id']}/unfavourite")
        case "old":
            Push.objects.update(created_at=clock.now() - LIFETIME)
        case "alerts":
            ann.do("push/subscription", {"data": {"alerts": {"mention": True}}}, method="PUT")
    service.answers.clear()
    work()
    connection.check_constraints()
    push_again()
    assert len(service.at()) == 1, "the only push is the one that failed"
    assert not Push.objects.filter(dead_at=None).exists()


@pytest.mark.parametrize(
    ("action", "context", "sent"),
    [("hide", "notifications", 0), ("hide", "home", 1), ("warn", "notifications", 1), ("blur", "notifications", 1)],
)
def test_notifications_hidden_by_a_filter_are_not_pushed(
    ann: Person, bob: Person, service: PushService, action: str, context: str, sent: int
) -> None:
    ann.subscribe(service.endpoint())
    keywords = [{"keyword": "weather", "whole_word": True}]
    sending = {"title": "x", "context": [context], "filter_action": action, "keywords_attributes": keywords}
    assert ann.api.post("/api/v2/filters", sending).status_code == 200
    bob.post("@ann the weather")
    work()
    assert len(service.at()) == sent
    bob.post("@ann something else")
    work()
    assert len(service.at()) == sent + 1


def test_a_push_to_a_host_that_resolves_to_a_private_address_is_given_up(ann: Person, service: PushService) -> None:
    """A host name may resolve to a different address later, so the address is checked before each request."""
    ann.subscribe(service.endpoint())
    PushSubscription.objects.update(endpoint="https://10.0.0.1/")
    queue(make_notification(ann, make_account()))
    work()
    assert "10.0.0.1 may not be connected to" in Push.objects.get().last_error
    assert Push.objects.get().dead_at is not None
