"""People are sent what concerns them while they look elsewhere: as they asked for it, once, and nobody else can read it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import orjson
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from accounts.models import AccessToken, Account, Follow, SiteSetting, User
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import suspend_account
from accounts.services.staff import disable
from accounts.services.tokens import revoke_tokens
from notifications.events import NotificationMade
from notifications.models import Notification, Push, PushPolicy, PushSubscription
from notifications.policies.push import ALERTS, LIFETIME
from notifications.policies.titles import title_of
from notifications.senders import web_push
from notifications.senders.web_push import PUSHES, TEXT_LIMIT
from notifications.services.pushing import queue_pushes
from social.kernel import clock
from social.kernel.runner import TERMS, Host
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.push import EVERYTHING, make_push_subscription
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.push import Device, PushService, Received, push_service, unbase64
from tests.support.work import work

pytestmark = pytest.mark.django_db

DEVICE = Device(11)


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    """A push service on this machine, which this server may ask."""
    settings.FEDERATION_LOOPBACK = True
    with push_service() as running:
        yield running


class Person:
    """Somebody with an application."""

    def __init__(self, name: str) -> None:
        self.user: User = make_user(name)
        self.token = make_token(self.user)
        self.api = Api(self.token)
        self.id = self.user.account_id

    @property
    def account(self) -> Account:
        return Account.objects.get(id=self.id)

    def subscribe(self, endpoint: str, **values: Any) -> PushSubscription:
        return make_push_subscription(self.token, endpoint, device=DEVICE, **values)

    def do(self, path: str, data: Any = None, method: str = "POST") -> Any:
        answer = self.api.request(method, f"/api/v1/{path}", data)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def post(self, text: str, **more: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.do("statuses", {"status": text} | more)
        return made


@pytest.fixture
def ann() -> Person:
    return Person("ann")


@pytest.fixture
def bob() -> Person:
    return Person("bob")


def push_again() -> None:
    """Push what waits, without the pauses after failures."""
    Push.objects.update(due_at=Now())
    Host.objects.update(retry_at=Now())
    PUSHES.run()


def make_notification(person: Person, sender: Account, kind: str = "follow", **values: Any) -> Notification:
    """A notification as `notify` would make it, of any type."""
    cause = f"test:{Notification.objects.count()}"
    return Notification.objects.create(account_id=person.id, from_account=sender, type=kind, cause=cause, **values)


def queue(*made: Notification) -> None:
    queue_pushes([NotificationMade(notification_id=each.id, account_id=each.account_id) for each in made])


def pushed(person: Person) -> list[str]:
    """The types of what is on its way to a person."""
    waiting = Push.objects.filter(subscription__token__user=person.user).order_by("id")
    return list(waiting.values_list("notification__type", flat=True))


def test_seed_142_new_posts_of_people_who_are_followed_with_notify_are_pushed(
    ann: Person, bob: Person, service: PushService
) -> None:
    ann.subscribe(service.endpoint(), alerts={"status": True})
    ann.do(f"accounts/{bob.id}/follow", {"notify": True})
    bob.post("hello")
    work()
    [message] = service.opened(DEVICE)
    assert (message["notification_type"], message["title"], message["body"]) == ("status", "bob has posted", "hello")


@pytest.mark.parametrize("standard", [True, False])
def test_trap_47_a_device_reads_what_the_contract_says(
    ann: Person, bob: Person, service: PushService, standard: bool
) -> None:
    SiteSetting.objects.create(key="site_contact_email", value="staff@example.org")
    made = ann.subscribe(service.endpoint(), standard=standard)
    bob.post("@ann Grüße & <3")
    work()
    [notification] = ann.api.get("/api/v1/notifications").json()
    assert service.opened(DEVICE) == [
        {
            "access_token": ann.token,
            "preferred_locale": "en",
            "notification_id": notification["id"],
            "notification_type": "mention",
            "icon": notification["account"]["avatar_static"],
            "title": "bob mentioned you",
            "body": "@ann Grüße & <3",
        }
    ]
    [received] = service.at()
    assert received.headers["TTL"] == "172800"
    assert received.headers["Urgency"] == "normal"
    assert received.headers["Content-Type"] == "application/octet-stream"
    assert_signed(received, service, standard=standard)
    address = str(received.headers["Unsubscribe-URL"])
    assert address.startswith(f"{django_settings.BASE_URL}/api/web/push_subscriptions/")
    Api().request("DELETE", address.removeprefix(django_settings.BASE_URL))
    assert not PushSubscription.objects.filter(id=made.id).exists()


def assert_signed(received: Received, service: PushService, *, standard: bool) -> None:
    """The request says that it is from this server (RFC 8292), in the way of its encoding."""
    key = django_settings.VAPID_PUBLIC_KEY
    authorization = str(received.headers["Authorization"])
    if standard:
        assert received.headers["Content-Encoding"] == "aes128gcm"
        assert authorization.endswith(f",k={key}")
        token = authorization.removeprefix("vapid t=").partition(",")[0]
    else:
        assert received.headers["Content-Encoding"] == "aesgcm"
        assert received.headers["Crypto-Key"].endswith(f";p256ecdsa={key}")
        token = authorization.removeprefix("WebPush ")
    claims = orjson.loads(unbase64(token.split(".")[1]))
    left = claims.pop("exp") - clock.now().timestamp()
    assert 23 * 3600 - 60 <= left <= 24 * 3600
    assert claims == {"aud": service.address, "sub": "mailto:staff@example.org"}


def test_without_an_address_of_staff_the_server_itself_signs(ann: Person, bob: Person, service: PushService) -> None:
    ann.subscribe(service.endpoint())
    bob.do(f"accounts/{ann.id}/follow")
    work()
    token = str(service.at()[0].headers["Authorization"]).removeprefix("vapid t=")
    assert orjson.loads(unbase64(token.split(".")[1]))["sub"] == django_settings.BASE_URL


def test_streams_and_pushes_carry_the_same_id(
    ann: Person, bob: Person, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    streamed: list[str] = []
    monkeypatch.setattr("notifications.tasks.streaming.listeners", list)
    monkeypatch.setattr(
        "notifications.tasks.streaming.broadcast_notification",
        lambda _account, entity: streamed.append(orjson.loads(entity)["id"]),
    )
    ann.subscribe(service.endpoint())
    bob.do(f"accounts/{ann.id}/follow")
    bob.post("@ann hello")
    work()
    assert sorted(streamed) == sorted(message["notification_id"] for message in service.opened(DEVICE))
    assert len(streamed) == 2


@pytest.mark.parametrize(("policy", "follows", "followed"), [*product(PushPolicy.values, (False, True), (False, True))])
def test_a_policy_asks_how_the_two_stand_to_each_other(ann: Person, policy: str, follows: bool, followed: bool) -> None:
    sender = make_account()
    for one, other, there in ((ann.account, sender, follows), (sender, ann.account, followed)):
        if there:
            Follow.objects.create(account=one, target=other)
    ann.subscribe("https://push.example.org/one", policy=policy)
    queue(make_notification(ann, sender, "favourite"))
    wanted = {"all": True, "followed": follows, "follower": followed, "none": False}[policy]
    assert pushed(ann) == ["favourite"] * wanted


def test_a_policy_that_is_none_lets_nothing_pass(ann: Person) -> None:
    ann.subscribe("https://push.example.org/one", policy="nonsense")
    queue(make_notification(ann, make_account()))
    assert pushed(ann) == []


@pytest.mark.parametrize("kind", ALERTS)
def test_a_type_is_pushed_to_those_who_asked_for_it(ann: Person, kind: str) -> None:
    made = make_notification(ann, make_account(), kind)
    for alerts, wanted in (({kind: True}, 1), ({kind: False}, 0), ({}, 0), (EVERYTHING | {kind: False}, 0)):
        ann.subscribe("https://push.example.org/one", alerts=alerts)
        queue(made)
        assert pushed(ann) == [kind] * wanted
    assert title_of(kind, "Bob") not in (kind, "")


def test_each_application_of_a_person_is_asked_and_nobody_else_is(ann: Person, bob: Person) -> None:
    bob.subscribe("https://push.example.org/bob")
    for name in ("phone", "tablet"):
        make_push_subscription(make_token(ann.user), f"https://push.example.org/{name}")
    queue(make_notification(ann, make_account()))
    assert pushed(ann) == ["follow", "follow"]
    assert pushed(bob) == []


def test_a_notification_is_queued_once_however_often_it_is_announced(ann: Person) -> None:
    ann.subscribe("https://push.example.org/one")
    made = make_notification(ann, make_account())
    queue(made, made)
    queue(made)
    assert pushed(ann) == ["follow"]


def test_what_a_policy_of_notifications_has_filtered_is_not_pushed(ann: Person) -> None:
    ann.subscribe("https://push.example.org/one")
    queue(make_notification(ann, make_account(), filtered=True))
    assert pushed(ann) == []


def test_a_title_is_in_the_language_of_who_reads_it(ann: Person, bob: Person, service: PushService) -> None:
    User.objects.filter(id=ann.user.id).update(locale="de")
    Account.objects.filter(id=bob.id).update(display_name="Bob the <b>Builder</b>")
    ann.subscribe(service.endpoint())
    bob.do(f"accounts/{ann.id}/follow")
    work()
    [message] = service.opened(DEVICE)
    assert message["preferred_locale"] == "de"
    assert message["title"] == "Bob the <b>Builder</b> folgt dir"


def test_a_body_is_short_and_plain(ann: Person, bob: Person, service: PushService) -> None:
    ann.subscribe(service.endpoint())
    Account.objects.filter(id=bob.id).update(note_html="<p>I <b>build</b><br>houses &amp; more</p>")
    bob.do(f"accounts/{ann.id}/follow")
    bob.post("@ann secret", spoiler_text="a warning")
    bob.post("@ann " + "long " * 90)
    work()
    bodies = [message["body"] for message in service.opened(DEVICE)]
    assert sorted(bodies)[:2] == sorted(["@ann " + ("long " * 90)[: TEXT_LIMIT - 6] + "…", "I build houses & more"])
    assert sorted(bodies)[2] == "a warning"
    assert max(map(len, bodies)) == TEXT_LIMIT


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


def test_what_failed_arrives_when_the_push_service_is_well_again(
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
        # One was asked at a time, and the others wait until that one is well.
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


def test_row_24_what_is_held_for_a_slow_push_service_is_not_sent_after_the_token_was_revoked(
    ann: Person, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what one claim took, the first is under way while the token ends."""
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
def test_what_is_sent_is_decided_when_it_is_sent(ann: Person, bob: Person, service: PushService, change: str) -> None:
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
    assert len(service.at()) == 1, "the one that failed"
    assert not Push.objects.filter(dead_at=None).exists()


@pytest.mark.parametrize(
    ("action", "context", "sent"),
    [("hide", "notifications", 0), ("hide", "home", 1), ("warn", "notifications", 1), ("blur", "notifications", 1)],
)
def test_what_a_person_hides_by_a_filter_is_not_pushed(
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


def test_what_asks_for_a_private_address_when_it_is_sent_is_given_up(ann: Person, service: PushService) -> None:
    """A name may lead anywhere by then: the guard of outgoing requests stands before each."""
    ann.subscribe(service.endpoint())
    PushSubscription.objects.update(endpoint="https://10.0.0.1/")
    queue(make_notification(ann, make_account()))
    work()
    assert "10.0.0.1 may not be connected to" in Push.objects.get().last_error
    assert Push.objects.get().dead_at is not None


def test_twenty_are_queued_and_read_with_as_many_statements_as_two(bob: Person) -> None:
    def cost(number: int) -> tuple[int, int]:
        people = [Person(f"p{number}x{each}") for each in range(number)]
        made = []
        for person in people:
            person.subscribe("https://push.example.org/one")
            post = make_status(bob.account, text=f"hello @{person.user.account.username}")
            made.append(make_notification(person, make_account(), "mention", status=post))
        with CaptureQueriesContext(connection) as queued:
            queue(*made)
        ids = list(Push.objects.filter(notification__in=made).values_list("id", flat=True))
        with CaptureQueriesContext(connection) as read:
            assert len(web_push.load_messages(ids)) == number
        return len(queued), len(read)

    assert cost(2) == cost(20)


def test_the_pushes_of_a_person_without_subscriptions_cost_one_statement(ann: Person) -> None:
    made = make_notification(ann, make_account())
    with CaptureQueriesContext(connection) as caught:
        queue(made)
    assert len(caught) == 1


def test_what_waits_for_as_long_as_a_push_service_would_keep_it_is_given_up() -> None:
    assert TERMS["pushes"].lifetime == LIFETIME == timedelta(hours=48)
