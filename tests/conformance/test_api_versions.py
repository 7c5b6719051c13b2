"""Tests of the features that clients enable for each value of `api_versions.mastodon` (clients.md)."""

from collections.abc import Iterator
from typing import Any

import pytest

from accounts.identity.services.tokens import register_application
from accounts.models import Account
from notifications.models import NotificationType
from tests.accounts.identity.oauth.conftest import CALLBACK, code_for, exchange
from tests.accounts.identity.oauth.test_token import PKCE, VERIFIER
from tests.conformance.people import Person
from tests.factories.accounts import make_account
from tests.support.client import Api
from tests.support.entities import check
from tests.support.push import Device, PushService, push_service
from tests.support.work import work

pytestmark = pytest.mark.django_db
LAST = 11


@pytest.fixture
def service(settings: Any) -> Iterator[PushService]:
    """A push service on this machine, which this server may call."""
    settings.FEDERATION_LOOPBACK = True
    with push_service() as running:
        yield running


def ask(person: Person, method: str, path: str, data: Any = None) -> Any:
    answer = person.api.request(method, f"/api/{path}", data)
    assert answer.status_code == 200, answer.content
    work()
    return answer.json()


def test_every_api_version_up_to_the_stated_number_has_a_test() -> None:
    proved = {int(name.split("_")[2]) for name in globals() if name.startswith("test_version_")}
    assert proved == set(range(2, LAST + 1))
    assert Api().get("/api/v2/instance").json()["api_versions"] == {"mastodon": LAST}


def test_version_2_notifications_come_in_groups(alice: Person, bob: Person) -> None:
    post = alice.post()
    for person in (bob, Person("carol")):
        person.do(f"statuses/{post['id']}/favourite")
    body = ask(alice, "GET", "v2/notifications")
    check("GroupedNotificationsResults", body)
    (group,) = body["notification_groups"]
    assert (group["notifications_count"], len(group["sample_account_ids"])) == (2, 2)
    assert ask(alice, "GET", "v2/notifications/unread_count") == {"count": 1}
    assert len(ask(alice, "GET", f"v2/notifications/{group['group_key']}/accounts")) == 2
    ask(alice, "POST", f"v2/notifications/{group['group_key']}/dismiss")
    assert ask(alice, "GET", "v2/notifications")["notification_groups"] == []


def test_version_3_applications_can_use_pkce(alice: Person) -> None:
    metadata = Api().get("/.well-known/oauth-authorization-server").json()
    assert metadata["code_challenge_methods_supported"] == ["S256"]
    application = register_application(name="App", redirect_uris=[CALLBACK], scopes="read")
    code = code_for(application, alice.user, scope="read", **PKCE)
    assert exchange(application, code, code_verifier="x" * 43).status_code == 400
    assert exchange(application, code, code_verifier=VERIFIER).status_code == 200


def test_version_4_pushes_come_in_the_encoding_of_the_standard(
    alice: Person, bob: Person, service: PushService
) -> None:
    device = Device(5)
    target = {"endpoint": service.endpoint(), "keys": device.keys, "standard": True}
    made = ask(alice, "POST", "v1/push/subscription", {"subscription": target, "data": {"alerts": {"follow": True}}})
    assert made["standard"] is True
    assert made["server_key"] == Api().get("/api/v2/instance").json()["configuration"]["vapid"]["public_key"]
    bob.do(f"accounts/{alice.id}/follow")
    (received,) = service.at()
    assert received.headers["Content-Encoding"] == "aes128gcm"
    (message,) = service.opened(device)
    assert message["notification_type"] == "follow"
    assert message["notification_id"] == alice.read("notifications")[0]["id"]


def test_version_5_a_filter_can_blur_pictures(alice: Person, bob: Person) -> None:
    made = ask(
        alice,
        "POST",
        "v2/filters",
        {
            "title": "Spiders",
            "context": ["public"],
            "filter_action": "blur",
            "keywords_attributes": [{"keyword": "spider"}],
        },
    )
    assert made["filter_action"] == "blur"
    post = bob.post("A spider")
    (found,) = alice.read(f"statuses/{post['id']}")["filtered"]
    assert (found["filter"]["filter_action"], found["keyword_matches"]) == ("blur", ["spider"])


def test_version_6_accounts_and_hashtags_are_featured_on_a_profile(alice: Person, bob: Person) -> None:
    alice.do(f"accounts/{bob.id}/follow")
    assert alice.do(f"accounts/{bob.id}/endorse")["endorsed"] is True
    assert [account["id"] for account in bob.read(f"accounts/{alice.id}/endorsements")] == [bob.id]
    assert ask(alice, "POST", "v1/tags/gardens/feature")["featuring"] is True
    assert [tag["name"] for tag in bob.read(f"accounts/{alice.id}/featured_tags")] == ["gardens"]


def test_version_7_posts_are_quoted_as_their_authors_allow(alice: Person, bob: Person) -> None:
    post = alice.post(quote_approval_policy="public")
    assert post["quote_approval"]["automatic"] == ["public"]
    quote = bob.post("Look", quoted_status_id=post["id"])
    assert (quote["quote"]["state"], quote["quote"]["quoted_status"]["id"]) == ("accepted", post["id"])
    assert alice.ids(f"statuses/{post['id']}/quotes") == [quote["id"]]
    assert alice.do(f"statuses/{post['id']}/quotes/{quote['id']}/revoke")["quote"]["state"] == "revoked"
    changed = ask(alice, "PUT", f"v1/statuses/{post['id']}/interaction_policy", {"quote_approval_policy": "nobody"})
    assert changed["quote_approval"]["automatic"] == []


def test_version_8_a_profile_has_its_own_endpoint_for_reading_and_changing(alice: Person) -> None:
    body = ask(alice, "PATCH", "v1/profile", {"display_name": "Alice", "note": "Hello"})
    check("Profile", body)
    assert (body["display_name"], body["note"]) == ("Alice", "Hello")
    assert ask(alice, "GET", "v1/profile") == body
    for picture in ("avatar", "header"):
        ask(alice, "DELETE", f"v1/profile/{picture}")


def test_version_9_a_profile_says_which_tabs_its_page_shows(alice: Person) -> None:
    body = ask(alice, "PATCH", "v1/profile", {"show_media": False, "show_featured": False, "avatar_description": "Me"})
    assert (body["show_media"], body["show_featured"], body["avatar_description"]) == (False, False, "Me")
    shown = Api().get(f"/api/v1/accounts/{alice.id}").json()
    assert (shown["show_media"], shown["show_featured"]) == (False, False)


def test_version_10_accounts_are_collected_and_notifications_have_fallback_texts(alice: Person, bob: Person) -> None:
    Account.objects.filter(id=bob.id).update(discoverable=True)
    wanted = {"name": "Gardeners", "sensitive": False, "discoverable": True, "account_ids": [bob.id]}
    made = ask(alice, "POST", "v1/collections", wanted)["collection"]
    assert [item["account_id"] for item in made["items"]] == [bob.id]
    assert [each["id"] for each in alice.read(f"accounts/{alice.id}/collections")["collections"]] == [made["id"]]
    work()
    (plain,) = bob.read("notifications")
    assert (plain["type"], plain["collection"]["id"]) == ("added_to_collection", made["id"])
    assert "fallback" not in plain
    (notification,) = bob.read("notifications", **{"supported_types[]": ["mention"]})
    assert "alice" in notification["fallback"]["title"]


def test_version_11_the_other_features_of_4_6_exist(alice: Person, bob: Person) -> None:
    policy = ask(alice, "PATCH", "v2/notifications/policy", {"for_bots": "filter"})
    check("NotificationPolicy", policy)
    assert policy["for_bots"] == "filter"
    Account.objects.filter(id=bob.id).update(actor_type="Service")
    bob.do(f"accounts/{alice.id}/follow")
    assert alice.read("notifications") == []
    muted = alice.do(f"accounts/{make_account().id}/mute", {"duration": 3600})
    assert muted["muting_expires_at"] is not None
    assert bob.read("accounts/verify_credentials")["role"]["collection_limit"] >= 0
    assert {"added_to_collection", "collection_update"} <= set(NotificationType.values)
    state = ask(alice, "GET", "v1/annual_reports/2020/state")
    assert state["state"] in ("available", "generating", "eligible", "ineligible")
