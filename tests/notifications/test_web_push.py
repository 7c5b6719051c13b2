"""Tests of Web Push: notifications are sent once, encrypted, and only if the subscription includes them."""

from datetime import timedelta
from itertools import product

import orjson
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, Follow, SiteSetting, User
from notifications.models import Push, PushPolicy, PushSubscription
from notifications.policies.push import ALERTS, LIFETIME
from notifications.policies.titles import title_of
from notifications.senders import web_push
from notifications.senders.web_push import TEXT_LIMIT
from social.kernel import clock
from social.kernel.runner import TERMS
from tests.factories.accounts import make_account, make_token
from tests.factories.push import EVERYTHING, make_push_subscription
from tests.factories.statuses import make_status
from tests.notifications.pushing import DEVICE, Person, ann, make_notification, pushed, queue, service
from tests.support.client import Api
from tests.support.push import PushService, Received, unbase64
from tests.support.work import work

__all__ = ["ann", "service"]
pytestmark = pytest.mark.django_db


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
    """Check the signature of this server (RFC 8292), which depends on the encoding."""
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
def test_a_push_policy_depends_on_the_relation_between_sender_and_recipient(
    ann: Person, policy: str, follows: bool, followed: bool
) -> None:
    sender = make_account()
    for one, other, there in ((ann.account, sender, follows), (sender, ann.account, followed)):
        if there:
            Follow.objects.create(account=one, target=other)
    ann.subscribe("https://push.example.org/one", policy=policy)
    queue(make_notification(ann, sender, "favourite"))
    wanted = {"all": True, "followed": follows, "follower": followed, "none": False}[policy]
    assert pushed(ann) == ["favourite"] * wanted


def test_an_unknown_push_policy_pushes_nothing(ann: Person) -> None:
    ann.subscribe("https://push.example.org/one", policy="nonsense")
    queue(make_notification(ann, make_account()))
    assert pushed(ann) == []


@pytest.mark.parametrize("kind", ALERTS)
def test_a_type_is_pushed_to_subscriptions_that_include_it(ann: Person, kind: str) -> None:
    made = make_notification(ann, make_account(), kind)
    for alerts, wanted in (({kind: True}, 1), ({kind: False}, 0), ({}, 0), (EVERYTHING | {kind: False}, 0)):
        ann.subscribe("https://push.example.org/one", alerts=alerts)
        queue(made)
        assert pushed(ann) == [kind] * wanted
    assert title_of(kind, "Bob") not in (kind, "")


def test_each_application_of_a_user_gets_the_push_and_no_other_does(ann: Person, bob: Person) -> None:
    make_push_subscription(bob.token, "https://push.example.org/bob", device=DEVICE)
    for name in ("phone", "tablet"):
        make_push_subscription(make_token(ann.user), f"https://push.example.org/{name}")
    queue(make_notification(ann, make_account()))
    assert pushed(ann) == ["follow", "follow"]
    assert pushed(bob) == []


def test_a_notification_is_queued_once_even_if_its_event_is_repeated(ann: Person) -> None:
    ann.subscribe("https://push.example.org/one")
    made = make_notification(ann, make_account())
    queue(made, made)
    queue(made)
    assert pushed(ann) == ["follow"]


def test_filtered_notifications_are_not_pushed(ann: Person) -> None:
    ann.subscribe("https://push.example.org/one")
    queue(make_notification(ann, make_account(), filtered=True))
    assert pushed(ann) == []


def test_a_title_is_in_the_language_of_the_recipient(ann: Person, bob: Person, service: PushService) -> None:
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


def test_many_pushes_are_queued_and_read_with_as_many_statements_as_two(bob: Person) -> None:
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

    assert cost(2) == cost(8)


def test_the_pushes_of_a_person_without_subscriptions_cost_one_statement(ann: Person) -> None:
    made = make_notification(ann, make_account())
    with CaptureQueriesContext(connection) as caught:
        queue(made)
    assert len(caught) == 1


def test_pushes_older_than_their_lifetime_are_given_up() -> None:
    assert TERMS["pushes"].lifetime == LIFETIME == timedelta(hours=48)
