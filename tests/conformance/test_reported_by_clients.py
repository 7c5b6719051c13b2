"""Tests of bugs that users reported to the trackers of clients and of other servers (docs/field.md lists the reports)."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from accounts.models import Account, Application
from social.kernel import clock
from statuses.models import MediaAttachment
from statuses.models.attachments import Processing
from tests.conformance.people import Person, here, links, walk
from tests.factories.accounts import make_account, make_application, make_remote, make_token, make_user
from tests.factories.statuses import follow, make_media, make_status
from tests.support.client import Api, signed_in
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("accounts/?account_ids[]={id}", None),
        ("accounts/?account_ids%5B%5D={id}", None),
        ("accounts//?account_ids[]={id}", None),
        ("accounts/", {"account_ids": ["{id}"]}),
    ],
)
def test_a_list_takes_members_with_a_slash_at_the_end_and_ids_in_the_query(
    alice: Person, bob: Person, path: str, body: Any
) -> None:
    follow(alice.account, bob.account)
    number = alice.do("lists", {"title": "Friends"})["id"]
    answer = alice.api.post(
        f"/api/v1/lists/{number}/{path.format(id=bob.id)}", {"account_ids": [bob.id]} if body is not None else None
    )
    assert answer.status_code == 200, answer.content
    assert alice.ids(f"lists/{number}/accounts") == [bob.id]


@pytest.mark.parametrize("slashes", ["/", "//", "///"])
@pytest.mark.parametrize(
    ("redirect_uri", "more"),
    [
        ("oauth2redirect://com.keylesspalace.tusky/", ""),
        ("http://localhost:3000/", ""),
        ("http://127.0.0.1:39121/callback", ""),
        ("icecubesapp://", ""),
        ("com.tapbots.Ivory.10217:/request_token", ""),
        ("MyApp:Callback", ""),
        ("https://client.example/done?a=1", "&force_login=False&state=None&lang=None"),
        ("toot-app://auth", "&prompt=&nonce=1&unknown=%00"),
    ],
)
def test_the_consent_page_is_shown_for_any_valid_redirect_uri(
    alice: Person, slashes: str, redirect_uri: str, more: str
) -> None:
    application = _registered(redirect_uri)
    browser = signed_in(alice.user)
    values = {"client_id": application.client_id, "response_type": "code", "scope": "read write follow"}
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in values.items())
    # The path is set directly, because the test client interprets the text after two slashes as a host.
    at = {
        "PATH_INFO": f"{slashes}oauth{slashes}authorize",
        "QUERY_STRING": f"{query}&redirect_uri={_quoted(redirect_uri)}{more}",
    }
    page = browser.get("/", **at)
    assert page.status_code == 200, (page.status_code, page.get("Location"))
    assert application.name in page.content.decode()


def _registered(redirect_uri: str) -> Application:
    application = make_application("read write follow")
    Application.objects.filter(pk=application.pk).update(redirect_uris=redirect_uri)
    return application


def _quoted(text: str) -> str:
    return "".join(f"%{ord(character):02X}" if not character.isalnum() else character for character in text)


@pytest.mark.parametrize("where", ["query", "form", "json", "both"])
def test_an_application_can_send_its_parameters_in_the_query_or_the_body(where: str) -> None:
    query = "client_name=Mammoth&redirect_uris=mammoth%3A%2F%2Fauth&scopes=read+write&website="
    asked = {"client_name": "Mammoth", "redirect_uris": "mammoth://auth", "scopes": "read write", "website": ""}
    made = _sent("/api/v1/apps", query, asked, where)
    assert made.status_code == 200, made.content
    application = made.json()
    assert application["redirect_uri"] == "mammoth://auth"
    secrets = {name: application[name] for name in ("client_id", "client_secret")}
    values = {**secrets, "grant_type": "client_credentials", "scope": "read"}
    query = "&".join(f"{name}={_quoted(value)}" for name, value in values.items())
    token = _sent("/oauth/token", query, values, where)
    assert token.status_code == 200, token.content
    assert token.json()["token_type"] == "Bearer"
    assert {"read"} <= set(token.json()["scope"].split())


def _sent(path: str, query: str, body: dict[str, str], where: str) -> Any:
    api = Api()
    if where == "query":
        return api.post(f"{path}?{query}")
    if where == "form":
        return api.post(path, form=query)
    return api.post(path if where == "json" else f"{path}?{query}", body)


@pytest.mark.parametrize(
    "path",
    [
        "//api/v1/instance",
        "/api//v2/instance",
        "///api///v1/timelines//public/",
        "//about",
        pytest.param("//.well-known//nodeinfo", marks=needs_federation),
    ],
)
def test_several_slashes_in_a_path_count_as_one(path: str) -> None:
    answer = Client().get("/", PATH_INFO=path)
    assert answer.status_code == 200, path
    assert answer["Content-Type"].startswith("text/html" if "about" in path else "application/json")


@pytest.mark.parametrize("path", ["//settings/profile", "/settings//profile", "///settings/profile//"])
def test_several_slashes_never_lead_to_another_host(path: str) -> None:
    """Security row 30."""
    answer = Client(raise_request_exception=False).get("/", PATH_INFO=path)
    place = answer["Location"] if answer.status_code == 302 else "/auth/sign_in?next=%2Fsettings%2Fprofile"
    assert place in ("/auth/sign_in?next=%2Fsettings%2Fprofile", "/auth/sign_in?next=/settings/profile"), place


def test_a_mentioned_account_can_be_read_without_a_token(bob: Person) -> None:
    for path in (f"accounts/{bob.id}", f"accounts/lookup?acct={bob.username}", f"accounts/{bob.id}/statuses"):
        assert Api().get(f"/api/v1/{path}").status_code == 200, path


@pytest.mark.parametrize("name", ["types[]", "exclude_types[]", "types", "exclude_types%5B%5D"])
@pytest.mark.parametrize("value", ["poll", "pleroma:emoji_reaction", "", "%00", "mention"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_notifications_of_any_type_may_be_asked_for(
    alice: Person, bob: Person, name: str, value: str, version: str
) -> None:
    bob.post("@alice hello")
    follow(bob.account, alice.account)
    answer = alice.api.get(f"/api/{version}/notifications?limit=30&{name}={value}")
    assert answer.status_code == 200, answer.content
    found = answer.json() if version == "v1" else answer.json()["notification_groups"]
    kinds = {item["type"] for item in found}
    if value == "mention" and name.endswith(("]", "%5D")):
        assert ("mention" in kinds) == name.startswith("types")
    if name.startswith("types[]") and value == "poll":
        assert kinds == set()


def test_the_instance_documents_have_every_text_and_number_that_clients_read(settings: Any) -> None:
    new, old = Api().get("/api/v2/instance").json(), Api().get("/api/v1/instance").json()
    assert isinstance(new["contact"]["email"], str)
    assert "account" in new["contact"]
    assert isinstance(old["email"], str)
    for body in (old["stats"], new["usage"]["users"]):
        assert body
        assert all(type(number) is int for number in body.values())
    for rule in (*new["rules"], *old["rules"]):
        assert isinstance(rule["hint"], str)


def test_members_without_a_value_are_null_and_not_left_out(alice: Person) -> None:
    alice.api.patch(
        "/api/v1/accounts/update_credentials",
        {"fields_attributes": [{"name": "Home", "value": "https://example.com"}, {"name": "Cat", "value": "Tom"}]},
    )
    post = alice.post("hello")
    for member in ("edited_at", "in_reply_to_id", "in_reply_to_account_id", "reblog", "poll", "card", "language"):
        assert member in post
    assert [post["edited_at"], post["reblog"], post["card"]] == [None] * 3
    assert post["created_at"]
    assert [field["verified_at"] for field in post["account"]["fields"]] == [None, None]
    assert post["visibility"] in ("public", "unlisted", "private", "direct")
    relation = alice.read("accounts/relationships", **{"id[]": post["account"]["id"]})[0]
    assert relation["muting_notifications"] is False


def test_every_relation_in_a_link_header_is_named_and_paging_ends(alice: Person) -> None:
    for number in range(6):
        follow(make_account(f"fan{number}"), alice.account)
    for limit in (2, 3, 4, 6):
        answer = alice.api.get(f"/api/v1/accounts/{alice.id}/followers", {"limit": limit})
        for part in answer["Link"].split(", <"):
            assert re.search(r'>; rel="(next|prev)"$', part), part
        found = walk(alice.api, f"/api/v1/accounts/{alice.id}/followers?limit={limit}")
        assert len({item["id"] for item in found}) == len(found) == 6
    # Clients may also request the page of items newer than the newest one; this page is empty.
    last = alice.api.get(here(links(alice.api.get(f"/api/v1/accounts/{alice.id}/followers", {"limit": 6}))["prev"]))
    assert last.json() == []


def test_the_history_of_a_found_hashtag_contains_numbers_as_strings(alice: Person) -> None:
    alice.post("#brutaldon")
    found = alice.api.get("/api/v2/search", {"q": "brutaldon", "type": "hashtags"}).json()["hashtags"]
    assert found[0]["history"]
    for day in found[0]["history"]:
        assert all(isinstance(value, str) and value.isdecimal() for value in day.values())


def test_in_a_thread_every_reply_names_its_parent(alice: Person, bob: Person) -> None:
    first = alice.post("one")
    second = bob.post("two", in_reply_to_id=first["id"])
    third = alice.post("three", in_reply_to_id=second["id"])
    bob.post("four", in_reply_to_id=third["id"])
    for start in (first, second, third):
        thread = alice.read(f"statuses/{start['id']}/context")
        assert all(post["in_reply_to_id"] and post["in_reply_to_account_id"] for post in thread["descendants"])
        assert all(post["in_reply_to_id"] for post in thread["ancestors"][1:])


@pytest.mark.parametrize("accept", ["*/*", "", "text/html", "application/xml;q=0.9", "image/png, */*"])
def test_json_is_returned_and_declared_whatever_the_client_accepts(accept: str) -> None:
    for method, path in (
        ("GET", "/api/v1/trends/statuses"),
        ("GET", "/api/v1/trends/links"),
        ("GET", "/api/v1/no/such/path"),
        ("GET", "/api/v2/search?q=x"),
        ("DELETE", "/api/v1/statuses/1"),
        ("POST", "/api/v1/accounts/1/follow"),
        ("GET", "/api/v1/accounts/lookup?acct=nobody"),
    ):
        answer = Client(raise_request_exception=False).generic(method, path, headers={"Accept": accept})
        assert answer["Content-Type"].startswith("application/json"), (path, answer["Content-Type"])
        answer.json()


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_notification_policy_has_a_summary(alice: Person, version: str) -> None:
    policy = alice.api.get(f"/api/{version}/notifications/policy").json()
    assert policy["summary"] == {"pending_requests_count": 0, "pending_notifications_count": 0}


@pytest.mark.parametrize(
    "form", ["{0:%Y-%m-%dT%H:%M:%S.000Z}", "{0:%Y-%m-%dT%H:%M:%SZ}", "{0:%Y-%m-%d %H:%M:%S}+00:00"]
)
@pytest.mark.parametrize("encoding", ["json", "form", "query"])
def test_a_post_is_scheduled_and_moved_however_the_time_is_sent(alice: Person, form: str, encoding: str) -> None:
    soon, later = (form.format(clock.now() + timedelta(hours=hours)) for hours in (2, 3))

    def send(method: str, path: str, values: dict[str, str]) -> Any:
        query = "&".join(f"{name}={_quoted(value)}" for name, value in values.items())
        if encoding == "query":
            return alice.api.request(method, f"{path}?{query}")
        if encoding == "form":
            return alice.api.request(method, path, form=query)
        return alice.api.request(method, path, values)

    made = send("POST", "/api/v1/statuses", {"status": "later", "scheduled_at": soon})
    assert made.status_code == 200, made.content
    path = f"/api/v1/scheduled_statuses/{made.json()['id']}"
    moved = send("PUT", path, {"scheduled_at": later})
    assert moved.status_code == 200, moved.content
    assert moved.json()["scheduled_at"] > made.json()["scheduled_at"]
    near = send("PUT", path, {"scheduled_at": form.format(clock.now() + timedelta(minutes=1))})
    assert (near.status_code, near["Content-Type"].partition(";")[0]) == (422, "application/json")


def test_a_filter_accepts_the_old_name_of_its_action_and_lists_its_posts(alice: Person) -> None:
    contexts = ["home", "notifications", "public", "thread", "account"]
    made = alice.api.post("/api/v2/filters", {"title": "hidden", "context": contexts, "action": "warn"}).json()
    assert (made["filter_action"], made["keywords"], made["statuses"]) == ("warn", [], [])
    posts = [alice.post(str(number))["id"] for number in range(3)]
    for post in posts:
        answer = alice.api.post(f"/api/v2/filters/{made['id']}/statuses", {"status_id": post})
        assert answer.status_code == 200
    shown = alice.api.get("/api/v2/filters").json()[0]
    assert sorted(item["status_id"] for item in shown["statuses"]) == sorted(posts)


@pytest.mark.parametrize("processing", [Processing.QUEUED, Processing.RUNNING, Processing.FAILED])
def test_a_list_is_returned_while_a_file_in_it_is_not_processed_yet(
    alice: Person, bob: Person, processing: str
) -> None:
    media = make_media(bob.account)
    made = bob.post("@alice look", media_ids=[str(media.id)])
    MediaAttachment.objects.filter(id=media.id).update(processing=processing, file="", preview="", meta={}, blurhash="")
    for path in ("notifications", "timelines/public", f"accounts/{bob.id}/statuses", f"statuses/{made['id']}/context"):
        alice.read(path)
    for item in alice.read("timelines/public"):
        for file in item["media_attachments"]:
            assert file["type"]
            assert "url" in file


@pytest.mark.parametrize("gone", ["suspended", "deleted"])
def test_every_account_named_by_a_notification_group_is_included(alice: Person, gone: str) -> None:
    post = make_status(alice.account)
    fans = [Person(f"fan{number}") for number in range(4)]
    for fan in fans:
        fan.do(f"statuses/{post.id}/favourite")
    now = clock.now()
    changed = {"suspended_at": now} if gone == "suspended" else {"deleted_at": now}
    Account.objects.filter(id=int(fans[3].id)).update(**changed)
    work()
    answer = alice.api.get("/api/v2/notifications").json()
    known = {account["id"] for account in answer["accounts"]}
    posts = {status["id"] for status in answer["statuses"]}
    for group in answer["notification_groups"]:
        assert set(group["sample_account_ids"]) <= known
        assert group["status_id"] in posts
    for item in alice.read("notifications"):
        assert item["account"]["id"]


def test_requests_of_clients_before_the_sign_in_succeed(alice: Person) -> None:
    alice.post("hello")
    for path in ("v1/timelines/public?local=true", "v1/instance", "v2/instance", "v1/instance/peers", "v1/directory"):
        answer = Api().get(f"/api/{path}")
        assert answer.status_code == 200, path
    asked = {"client_name": "Metatext", "redirect_uris": "metatext://oauth", "scopes": "read write follow push"}
    assert Api().post("/api/v1/apps", asked).status_code == 200


@pytest.mark.parametrize("state", ["None", "a%26b%3Dc", "%F0%9F%90%98", "x" * 1000])
def test_the_state_of_an_application_is_returned_unchanged(alice: Person, state: str) -> None:
    application = _registered("https://client.example/done?a=1")
    query = f"client_id={application.client_id}&response_type=code&scope=read&state={state}"
    query += f"&redirect_uri={_quoted('https://client.example/done?a=1')}"
    browser = signed_in(alice.user)
    page = browser.get("/oauth/authorize", QUERY_STRING=query)
    assert page.status_code == 200
    fields = dict(re.findall(r'name="([^"]+)"[^>]*value="([^"]*)"', page.content.decode()))
    fields.pop("csrfmiddlewaretoken", None)
    answer = browser.post("/oauth/authorize", {**_unescaped(fields), "decision": "allow"}, QUERY_STRING=query)
    assert answer.status_code == 302, answer.content
    sent = parse_qs(urlsplit(answer["Location"]).query)
    assert sent["a"] == ["1"]
    assert sent["state"] == parse_qs(f"state={state}")["state"]
    assert sent["code"]


def _unescaped(fields: dict[str, str]) -> dict[str, str]:
    from html import unescape

    return {name: unescape(value) for name, value in fields.items()}


def test_a_token_names_its_scopes_as_they_were_requested(alice: Person) -> None:
    token = make_token(alice.user, "read write follow push")
    shown = Api(token).get("/api/v1/apps/verify_credentials").json()
    assert {"read", "write", "follow", "push"} <= set(shown["scopes"])


def test_remote_accounts_have_every_member_that_clients_read(alice: Person) -> None:
    stranger = make_remote("zoe", note="", display_name="")
    shown = alice.read(f"accounts/{stranger.id}")
    for member in ("display_name", "note", "url", "avatar", "avatar_static", "header", "header_static", "acct"):
        assert isinstance(shown[member], str), member
    assert (shown["fields"], shown["emojis"]) == ([], [])
    make_user("other")
