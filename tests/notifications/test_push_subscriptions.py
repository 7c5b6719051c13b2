"""Tests of push subscriptions: one for each access token, with the error messages of Mastodon."""

from typing import Any

import pytest
from django.conf import settings as django_settings

from accounts.identity.services.sessions import change_password
from accounts.identity.services.staff import reset_second_factor
from accounts.identity.services.tokens import revoke_tokens
from accounts.models import AccessToken, User
from accounts.policies.staff import OPERATOR
from notifications.models import PushSubscription
from notifications.policies import push
from notifications.policies.push import ALERTS, LIFETIME, unsubscribe_url
from social.kernel import clock
from tests.factories.accounts import make_token, make_user
from tests.factories.push import make_push_subscription
from tests.support.client import Api
from tests.support.moments import at
from tests.support.push import Device

pytestmark = pytest.mark.django_db

PUSH = "/api/v1/push/subscription"
KEYS = Device(7).keys
TARGET: dict[str, Any] = {"endpoint": "https://push.example.org/one", "keys": KEYS}
KEY_ERROR = "is not a valid Ed25519 or Curve25519 key"


def created(api: Api, target: Any = TARGET, **data: Any) -> dict[str, Any]:
    answer = api.post(PUSH, {"subscription": target} | ({"data": data} if data else {}))
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def test_seed_030_a_subscription_is_created_read_changed_and_deleted(api: Api) -> None:
    made = created(api)
    assert made == {
        "id": made["id"],
        "endpoint": TARGET["endpoint"],
        "standard": False,
        "alerts": {},
        "server_key": django_settings.VAPID_PUBLIC_KEY,
        "policy": "all",
    }
    assert api.get(PUSH).json() == made
    changed = api.put(PUSH, {"data": {"alerts": {"mention": True}, "policy": "followed"}})
    assert changed.json() == made | {"alerts": {"mention": True}, "policy": "followed"}
    assert api.request("DELETE", PUSH).json() == {}
    for answer in (api.get(PUSH), api.put(PUSH, {"data": {}})):
        assert (answer.status_code, answer.json()) == (404, {"error": "Not Found"})
    assert api.request("DELETE", PUSH).status_code == 200


def test_the_id_of_a_subscription_is_a_string_with_a_number_of_at_most_32_bits(api: Api) -> None:
    made = created(api)
    assert int(made["id"]) < 2**31  # Mastodon for Android and Tusky read it as an Int
    assert created(Api(make_token(make_user(), scopes="push")))["id"] != made["id"]


def test_seed_083_alerts_for_new_posts_of_followed_accounts_can_be_chosen(api: Api) -> None:
    assert created(api, alerts={"status": "true"})["alerts"] == {"status": True}


def test_alerts_of_every_type_are_accepted_in_every_encoding_and_unknown_ones_dropped(api: Api) -> None:
    assert created(api, alerts=dict.fromkeys(ALERTS, True))["alerts"] == dict.fromkeys(ALERTS, True)
    form = "&".join(
        f"data[alerts][{name}]={value}"
        for name, value in (("mention", "1"), ("follow", "0"), ("poll", "off"), ("update", ""), ("nonsense", "true"))
    )
    answer = api.request("PUT", PUSH, form=f"{form}&data[alerts][reblog][]=1")
    assert answer.json()["alerts"] == {"mention": True, "follow": False, "poll": False}


def test_a_subscription_can_be_sent_as_a_form(api: Api) -> None:
    form = f"subscription[endpoint]=https://push.example.org/form&subscription[keys][p256dh]={KEYS['p256dh']}"
    form += f"&subscription[keys][auth]={KEYS['auth']}&subscription[standard]=true&data[policy]=follower"
    answer = api.request("POST", PUSH, form=form)
    assert answer.status_code == 200, answer.content
    body = answer.json()
    assert (body["endpoint"], body["standard"], body["policy"]) == ("https://push.example.org/form", True, "follower")


@pytest.mark.parametrize("data", [{}, {"data": None}, {"data": {}}, {"data": ""}])
def test_push_settings_that_are_left_out_get_their_defaults(api: Api, data: Any) -> None:
    created(api, alerts={"mention": True}, policy="none")
    body = api.put(PUSH, data).json()
    assert (body["alerts"], body["policy"]) == ({}, "all")


def test_the_policy_may_stand_beside_the_alerts_as_several_apps_send_it(api: Api) -> None:
    """Mastodon for Android, Elk and Phanpy do so, and Mastodon's documentation lists it there for PUT."""
    alerts = {"mention": True}
    made = api.post(PUSH, {"subscription": TARGET, "data": {"alerts": alerts}, "policy": "followed"}).json()
    assert (made["alerts"], made["policy"]) == (alerts, "followed")
    changed = api.request("PUT", PUSH, form="data[alerts][mention]=true&policy=none").json()
    assert (changed["alerts"], changed["policy"]) == (alerts, "none")
    inner = api.put(PUSH, {"data": {"alerts": alerts, "policy": "follower"}, "policy": "none"}).json()
    assert inner["policy"] == "follower"
    assert api.put(PUSH, {"policy": None, "data": {"alerts": alerts}}).json()["policy"] == "all"
    assert api.put(PUSH, {"policy": {"x": "y"}, "data": {"alerts": alerts}}).json()["policy"] == "all"


def test_a_change_leaves_the_address_as_it_is(api: Api) -> None:
    made = created(api)
    other = {"endpoint": "https://push.example.org/two", "keys": KEYS}
    assert (
        api.put(PUSH, {"subscription": other, "data": {"alerts": {"poll": True}}}).json()["endpoint"]
        == made["endpoint"]
    )


def test_a_second_subscription_of_a_token_replaces_the_first(api: Api, ann: User) -> None:
    first, second = created(api), created(api, alerts={"poll": True})
    assert (first["alerts"], second["alerts"]) == ({}, {"poll": True})
    assert [str(row.token_id) for row in PushSubscription.objects.all()] == [second["id"]]
    assert created(Api(make_token(ann)))["id"] != second["id"]
    assert api.get(PUSH).json() == second


def test_a_refused_subscription_does_not_end_the_existing_one(api: Api) -> None:
    made = created(api)
    for wrong in (None, "text", {}, [], {"endpoint": "nonsense", "keys": KEYS}):
        assert api.post(PUSH, {"subscription": wrong}).status_code in (400, 422)
    assert api.get(PUSH).json() == made


@pytest.mark.parametrize("sent", [{}, {"subscription": "text"}, {"subscription": {}}, {"subscription": [TARGET]}])
def test_a_request_without_a_subscription_is_a_bad_request(api: Api, sent: Any) -> None:
    answer = api.post(PUSH, sent)
    assert answer.status_code == 400
    assert answer.json() == {"error": "param is missing or the value is empty or invalid: subscription"}


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_data_that_is_not_an_object_is_refused(api: Api, method: str) -> None:
    created(api)
    answer = api.request(method, PUSH, {"subscription": TARGET, "data": "text"})
    assert answer.status_code == 400
    assert answer.json() == {"error": "param is missing or the value is empty or invalid: data"}


@pytest.mark.parametrize(
    ("endpoint", "text"),
    [
        (None, "Endpoint can't be blank, Endpoint is invalid"),
        ("", "Endpoint can't be blank, Endpoint is invalid"),
        ("nonsense", "Endpoint is invalid"),
        ("ftp://push.example.org/", "Endpoint is invalid"),
        # The address is checked like the address of every outgoing request.
        ("http://push.example.org/", "Endpoint is invalid"),
        ("https://127.0.0.1/", "Endpoint is invalid"),
        ("https://10.0.0.1/", "Endpoint is invalid"),
        ("https://169.254.169.254/latest", "Endpoint is invalid"),
        ("https://[::1]/", "Endpoint is invalid"),
        ("https://[::ffff:10.0.0.1]/", "Endpoint is invalid"),
        ("https://localhost/", "Endpoint is invalid"),
        ("https://printer.local/", "Endpoint is invalid"),
        ("https://push.example.org:22/", "Endpoint is invalid"),
        ("https://somebody@push.example.org/", "Endpoint is invalid"),
        ("https://push.example.org/" + "x" * 10_000, "Endpoint is invalid"),
    ],
)
def test_endpoints_that_this_server_may_not_call_are_refused(api: Api, endpoint: str | None, text: str) -> None:
    answer = api.post(PUSH, {"subscription": {"endpoint": endpoint, "keys": KEYS}})
    assert answer.status_code == 422
    assert answer.json() == {"error": f"Validation failed: {text}"}


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ({"p256dh": "abc", "auth": "abc"}, KEY_ERROR),
        ({"p256dh": "", "auth": ""}, f"Key p256dh can't be blank, Key auth can't be blank, {KEY_ERROR}"),
        ({"p256dh": KEYS["p256dh"]}, f"Key auth can't be blank, {KEY_ERROR}"),
        ({"auth": KEYS["auth"]}, f"Key p256dh can't be blank, {KEY_ERROR}"),
        ({"p256dh": "B" * 87, "auth": "abc"}, KEY_ERROR),
        (KEYS | {"p256dh": KEYS["p256dh"] + "\n"}, KEY_ERROR),
        (KEYS | {"p256dh": "A" + KEYS["p256dh"][1:44]}, KEY_ERROR),
        ({"p256dh": KEYS["p256dh"], "auth": "x" * 10_000}, KEY_ERROR),
        ("text", f"Key p256dh can't be blank, Key auth can't be blank, {KEY_ERROR}"),
    ],
)
def test_invalid_keys_of_a_device_are_refused(api: Api, keys: Any, text: str) -> None:
    answer = api.post(PUSH, {"subscription": {"endpoint": TARGET["endpoint"], "keys": keys}})
    assert answer.status_code == 422
    assert answer.json() == {"error": f"Validation failed: {text}"}


def test_any_text_is_accepted_as_secret_and_any_storable_text_as_policy(api: Api) -> None:
    made = created(api, TARGET | {"keys": {"p256dh": KEYS["p256dh"], "auth": "abc"}}, policy="nonsense")
    assert made["policy"] == "nonsense"
    assert api.put(PUSH, {"data": {"policy": "x" * 65}}).status_code == 422


def test_row_20_the_subscription_of_another_token_cannot_be_read_or_changed(api: Api, ann: User) -> None:
    created(api)
    for other in (make_token(ann), make_token(make_user("eve"))):
        assert Api(other).get(PUSH).status_code == 404
        assert Api(other).put(PUSH, {"data": {"policy": "none"}}).status_code == 404
        assert Api(other).request("DELETE", PUSH).status_code == 200
    assert api.get(PUSH).json()["policy"] == "all"


@pytest.mark.parametrize("end", ["revoke", "password", "second factor"])
def test_row_24_the_subscription_of_a_revoked_token_ends(api: Api, ann: User, end: str) -> None:
    created(api)
    if end == "revoke":
        revoke_tokens(AccessToken.objects.filter(token=api.token))
    elif end == "password":
        change_password(user=ann, password="another horse")
    else:
        reset_second_factor(by=OPERATOR, user=ann)
    assert not PushSubscription.objects.exists()


def test_row_69_subscriptions_per_user_are_limited_and_the_oldest_ends(
    ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert push.SUBSCRIPTIONS_LIMIT >= 50
    monkeypatch.setattr(push, "SUBSCRIPTIONS_LIMIT", 2)
    other = make_push_subscription(make_token(make_user("eve")))
    made = [make_push_subscription(make_token(ann)) for _time in range(3)]
    assert set(PushSubscription.objects.all()) == {other, *made[1:]}


def test_a_push_service_can_end_a_subscription_with_the_link_in_a_message(api: Api, ann: User) -> None:
    made = make_push_subscription(str(api.token))
    address = unsubscribe_url(made.id).removeprefix(django_settings.BASE_URL)
    for wrong in (f"{address}x", address.replace(str(made.id), str(made.id + 1)), "/api/web/push_subscriptions/1"):
        answer = Api().request("DELETE", wrong)
        assert (answer.status_code, answer.content) == (200, b"")
    assert PushSubscription.objects.exists()
    with at(clock.now() + LIFETIME):
        Api().request("DELETE", address)
    assert PushSubscription.objects.exists()
    for _time in range(2):
        assert Api().request("DELETE", address).status_code == 200
    assert not PushSubscription.objects.exists()
