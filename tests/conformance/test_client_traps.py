"""Tests of the numbered traps of client programs (clients.md, E1 and E2)."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest

from accounts.models import Application
from tests.conformance.people import Person, links
from tests.conformance.world import everything
from tests.factories.accounts import make_token
from tests.factories.statuses import make_media
from tests.support.client import Api
from tests.support.entities import check
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = pytest.mark.django_db
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")
NUMBERS = re.compile(r"(_count|_at_most|^width|^height|^max_|_limit)$")


def values(body: Any, place: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield every member of a body: its path, its name and its value."""
    if isinstance(body, list):
        for item in body:
            yield from values(item, f"{place}[]")
    elif isinstance(body, dict):
        for name, value in body.items():
            yield f"{place}.{name}", name, value
            yield from values(value, f"{place}.{name}")


@pytest.mark.parametrize("host", ["social.localhost", "SOCIAL.localhost", "127.0.0.1:3000", "www.social.localhost"])
def test_trap_6_requests_for_any_host_are_answered_without_a_redirect(alice: Person, host: str) -> None:
    for method, path in (("GET", "/api/v1/accounts/verify_credentials"), ("POST", "/api/v1/statuses")):
        answer = alice.api.request(method, path, {"status": "hello"}, headers={"Host": host})
        assert answer.status_code == 200, (path, answer.headers)


def test_trap_7_the_first_requests_of_a_client_need_no_token() -> None:
    for path in ("v1/instance", "v2/instance", "v1/custom_emojis", "v1/instance/rules"):
        assert Api().get(f"/api/{path}").status_code == 200, path
    assert Api(make_token(None, "read")).get("/api/v1/apps/verify_credentials").status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/api/v2/instance",
        "/api/v1/timelines/public",
        "/api/v1/statuses/1",
        "/oauth/token",
        "/oauth/revoke",
        "/oauth/userinfo",
        "/.well-known/webfinger?resource=acct:alice@social.localhost",
        "/.well-known/nodeinfo",
        "/.well-known/oauth-authorization-server",
        "/nodeinfo/2.0",
        "/users/alice",
        "/users/alice/statuses/1",
        "/system/nothing.png",
        "/actor",
        "/actor/outbox",
        "/inbox",
    ],
)
def test_trap_8_browser_clients_can_send_preflights_and_read_every_response(alice: Person, path: str) -> None:
    site = {"Origin": "https://phanpy.social", "Accept": "application/activity+json"}
    answer = Api().get(path, headers=site)
    assert answer["Access-Control-Allow-Origin"] == "*"
    exposed = {name.strip() for name in answer["Access-Control-Expose-Headers"].split(",")}
    assert {"Link", "X-RateLimit-Remaining", "X-Request-Id", "Mastodon-Async-Refresh"} <= exposed
    before = Api().request("OPTIONS", path, headers=site | {"Access-Control-Request-Method": "GET"})
    assert (before.status_code, before["Access-Control-Allow-Origin"]) == (200, "*")


def test_traps_9_and_10_links_keep_the_parameters_and_next_comes_first(alice: Person) -> None:
    for number in range(3):
        alice.post(f"{number} #x")
    path = "/api/v1/timelines/tag/x?limit=2&local=true&any[]=y"
    answer = alice.api.get(path)
    assert re.fullmatch(r'<http[^>]+>; rel="next", <http[^>]+>; rel="prev"', answer["Link"])
    for url in links(answer).values():
        assert url.startswith("http://social.localhost/api/v1/timelines/tag/x?")
        assert "limit=2" in url
        assert "local=true" in url
        assert "any%5B%5D=y" in url or "any[]=y" in url
    assert not alice.api.get(path + "&max_id=1").has_header("Link")


@pytest.mark.parametrize(
    "query",
    ["types[]=follow", "types%5B%5D=follow", "exclude_types[]=mention&exclude_types[]=favourite"],
)
def test_traps_14_and_30_types_are_honoured_in_every_spelling(alice: Person, bob: Person, query: str) -> None:
    bob.do(f"accounts/{alice.id}/follow")
    post = bob.post("hi @alice")
    assert post
    notified = alice.api.get(f"/api/v1/notifications?{query}").json()
    assert [item["type"] for item in notified] == ["follow"]


@pytest.mark.parametrize(
    ("meant", "spellings"),
    [(True, ["true", "True", "1", "on", "t"]), (False, ["false", "False", "0", "off", "f", ""])],
)
def test_trap_14_booleans_are_accepted_in_the_forms_of_every_library(
    alice: Person, meant: bool, spellings: list[str]
) -> None:
    for spelling in spellings:
        answer = alice.api.post("/api/v1/statuses", form=f"status=hello&sensitive={spelling}")
        assert answer.json()["sensitive"] is meant, spelling
    assert alice.api.post("/api/v1/statuses", {"status": "hello", "sensitive": meant}).json()["sensitive"] is meant


def test_trap_15_unknown_parameters_and_a_trailing_slash_are_accepted(alice: Person) -> None:
    answer = alice.api.post("/api/v1/statuses/?utm_source=x", {"status": "hello", "content_type": "text/markdown"})
    assert (answer.status_code, answer.json()["content"]) == (200, "<p>hello</p>")
    assert alice.api.get("/api/v1/timelines/home/", {"_": "1"}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "statuses", b"{", 400),
        ("GET", "accounts/verify_credentials", b"", 401),
        ("GET", "nothing/at/all", b"", 404),
        ("PATCH", "timelines/home", b"", 404),
        ("GET", "statuses/%00", b"", 404),
        ("GET", "accounts/%F0%9F%90%88", b"", 404),
        ("POST", "statuses", b'{"status": "' + b"x" * 2_000_000 + b'"}', 413),
        ("POST", "statuses", b"{}", 422),
    ],
)
def test_trap_16_errors_are_json_for_machines(alice: Person, method: str, path: str, body: bytes, status: int) -> None:
    headers = {"Authorization": f"Bearer {alice.api.token}"} if status != 401 else {}
    answer = Api().client.generic(method, f"/api/v1/{path}", body, "application/json", headers=headers)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/json; charset=utf-8"
    check("Error", answer.json())


def test_traps_22_to_26_ids_dates_numbers_and_addresses_have_the_same_form_everywhere(
    alice: Person, bob: Person
) -> None:
    widths: set[int] = set()
    for path, body in everything(alice, bob):
        for place, name, value in values(body, path):
            if name.endswith("_at") and name != "last_status_at" and value is not None and "apps" not in path:
                assert isinstance(value, str), place
                assert DATE.match(value), f"{place}: {value!r}"
                datetime.fromisoformat(value)
            if name == "last_status_at" and value is not None:
                assert re.fullmatch(r"\d{4}-\d\d-\d\d", value), f"{place}: {value!r}"
            if NUMBERS.search(name) and value is not None:
                assert type(value) in (int, float), f"{place}: {value!r}"
            if name in ("url", "uri", "avatar", "header", "avatar_static", "header_static"):
                assert value is None or value, f"{place} is empty"
            if name in ("content", "emojis", "tags", "mentions", "media_attachments", "acct", "fields", "note"):
                assert value is not None, f"{place} is null"
        if path.startswith(("timelines", "statuses")) and isinstance(body, list):
            widths |= {len(item["id"]) for item in body if "id" in item}
    assert len(widths) == 1, "ids of posts and boosts have the same order as numbers and as texts"


def test_trap_27_the_instance_documents_are_complete(settings: Any) -> None:
    check("Instance", Api().get("/api/v2/instance").json())
    old = Api().get("/api/v1/instance").json()
    check("InstanceV1", old)
    assert old["uri"] == "social.localhost"
    assert old["urls"]["streaming_api"].startswith("ws")


def test_trap_28_ones_own_account_has_its_source_and_role(alice: Person) -> None:
    own = alice.read("accounts/verify_credentials")
    check("CredentialAccount", own)
    assert {"privacy", "sensitive", "language", "follow_requests_count", "quote_policy"} <= set(own["source"])
    assert own["role"]["id"] == "-99"


def test_trap_29_every_requested_relationship_is_returned_in_order(alice: Person, bob: Person) -> None:
    people = [Person("carol"), bob, Person("dora")]
    query = "&".join(f"id[]={person.id}" for person in people)
    answer = alice.api.get(f"/api/v1/accounts/relationships?{query}")
    assert [item["id"] for item in answer.json()] == [person.id for person in people]
    for item in answer.json():
        check("Relationship", item)


def test_trap_31_each_notification_has_a_key_of_its_group(alice: Person, bob: Person) -> None:
    post = alice.post()
    bob.do(f"statuses/{post['id']}/favourite")
    bob.post("@alice hi")
    keys = {item["type"]: item["group_key"] for item in alice.read("notifications")}
    assert keys["favourite"].startswith(f"favourite-{post['id']}-")
    assert keys["mention"].startswith("ungrouped-")


@pytest.mark.parametrize(
    "path",
    [
        "v1/lists",
        "v1/filters",
        "v2/filters",
        "v1/followed_tags",
        "v1/announcements",
        "v2/suggestions",
        "v1/endorsements",
        "v1/conversations",
        "v2/notifications",
        "v1/bookmarks",
        "v1/trends/tags",
    ],
)
def test_trap_33_unknown_endpoints_do_not_return_an_empty_list(alice: Person, path: str) -> None:
    from social.api.routing import endpoints
    from social.urls import urlpatterns

    answer = alice.api.get(f"/api/{path}")
    built = f"api/{path}" in {pattern.path for pattern in endpoints(urlpatterns)}
    assert (answer.status_code == 404) is not built
    if not built:
        check("Error", answer.json())


def test_trap_36_delete_and_redraft_loses_nothing(alice: Person) -> None:
    media = make_media(alice.account, "a cat")
    draft = "#cats :) https://example.com/"
    post = alice.post(draft, media_ids=[str(media.id)], spoiler_text="cw", language="de", visibility="unlisted")
    deleted = alice.api.delete(f"/api/v1/statuses/{post['id']}").json()
    check("DeletedStatus", deleted)
    assert (deleted["text"], deleted["spoiler_text"]) == (draft, "cw")
    work()
    again = alice.post(
        deleted["text"],
        media_ids=[item["id"] for item in deleted["media_attachments"]],
        spoiler_text=deleted["spoiler_text"],
        language=deleted["language"],
        visibility=deleted["visibility"],
    )
    for name in ("content", "spoiler_text", "language", "visibility", "sensitive"):
        assert again[name] == post[name], name
    assert again["media_attachments"][0]["description"] == "a cat"


def test_trap_37_an_idempotency_key_creates_one_post_however_often_it_is_sent(alice: Person, bob: Person) -> None:
    sent = {"data": {"status": "hello"}, "headers": {"Idempotency-Key": "abc"}}
    answers = [alice.api.post("/api/v1/statuses", **sent) for _time in range(3)]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert bob.api.post("/api/v1/statuses", **sent).json()["id"] != answers[0].json()["id"]


def test_trap_38_a_scheduled_post_is_not_published_at_once(alice: Person) -> None:
    answer = alice.api.post("/api/v1/statuses", {"status": "later", "scheduled_at": "2099-01-01T00:00:00+02:00"})
    assert answer.status_code == 422 or "scheduled_at" in answer.json()
    assert alice.read(f"accounts/{alice.id}/statuses") == []


def test_trap_42_a_follow_can_be_limited_to_languages(alice: Person, bob: Person) -> None:
    answer = alice.do(f"accounts/{bob.id}/follow", {"languages": ["de", "en"]})
    assert answer["languages"] == ["de", "en"]


def test_traps_48_and_49_posts_have_the_html_and_links_that_clients_parse(alice: Person, bob: Person) -> None:
    link = "https://www.example.com/a/very/long/path/that/is/cut"
    post = alice.post(f"one\ntwo\n\n@bob #Cats {link}")
    base = "http://social.localhost"
    assert post["content"] == (
        "<p>one<br />two</p>"
        f'<p><span class="h-card" translate="no"><a href="{base}/@bob" class="u-url mention">@<span>bob</span></a></span> '
        f'<a href="{base}/tags/Cats" class="mention hashtag" rel="tag">#<span>Cats</span></a> '
        f'<a href="{link}" target="_blank" rel="nofollow noopener" translate="no">'
        '<span class="invisible">https://www.</span><span class="ellipsis">example.com/a/very/long/path/t</span>'
        '<span class="invisible">hat/is/cut</span></a></p>'
    )
    assert post["url"] == f"{base}/@alice/{post['id']}"
    assert post["account"]["url"] == f"{base}/@alice"
    assert post["mentions"] == [{"id": bob.id, "username": "bob", "acct": "bob", "url": f"{base}/@bob"}]
    assert post["tags"] == [{"name": "cats", "url": f"{base}/tags/{quote('cats')}"}]


@needs_federation
def test_trap_49_the_urls_of_accounts_posts_and_hashtags_are_pages(alice: Person) -> None:
    post = alice.post("one #Cats")
    for url, shown in ((post["account"]["url"], "@alice@"), (post["url"], "one"), (post["tags"][0]["url"], "#cats")):
        path = url.removeprefix("http://social.localhost")
        for address in (path, f"{path}/", f"{path}?x=1"):
            answer = Api().get(address, headers={"Accept": "text/html"})
            assert (answer.status_code, answer["Content-Type"][:9]) == (200, "text/html"), address
            assert shown in answer.content.decode()
    for path in ("/@alice", f"/@alice/{post['id']}"):
        answer = Api().get(path, headers={"Accept": "application/activity+json"})
        assert answer.status_code == 200


def test_trap_50_the_first_requests_of_a_client_succeed(alice: Person, bob: Person) -> None:
    alice.do(f"accounts/{bob.id}/follow")
    old = bob.post("old")
    assert alice.ids("timelines/home", limit=40) == [old["id"]]
    nobody = alice.api.get("/api/v1/accounts/1")
    assert (nobody.status_code, nobody["Content-Type"]) == (404, "application/json; charset=utf-8")
    assert alice.api.get("/api/v2/instance").status_code == 200
    assert "posting:default:visibility" in alice.read("preferences")
    assert alice.read("lists") == []
    new = bob.post("new @alice")
    assert alice.ids("timelines/home", min_id=old["id"], limit=40) == [new["id"]]
    assert alice.read(f"accounts/{alice.id}/statuses") == []
    notified = alice.api.get("/api/v1/notifications?types[]=mention&types[]=favourite&limit=40")
    assert [item["status"]["id"] for item in notified.json()] == [new["id"]]


def test_traps_1_and_4_an_application_registers_as_old_and_new_libraries_do() -> None:
    wide = "read write follow push profile read:accounts write:statuses " + "read:statuses " * 20
    for sent in (
        {"form": f"client_name=x&redirect_uris=urn:ietf:wg:oauth:2.0:oob&scopes={wide.strip().replace(' ', '+')}"},
        {"data": {"client_name": "x", "redirect_uris": ["urn:ietf:wg:oauth:2.0:oob"], "scopes": wide}},
    ):
        answer = Api().post("/api/v1/apps", **sent)
        assert answer.status_code == 200, answer.content
        check("CredentialApplication", answer.json())
        assert Application.objects.filter(client_id=answer.json()["client_id"]).exists()
        assert "profile" in answer.json()["scopes"]


def test_trap_52_the_endpoints_that_web_clients_request_on_every_page_exist(alice: Person) -> None:
    asked = ("followed_tags", "lists", "filters", "preferences", "announcements", "follow_requests", "conversations")
    for path in (*asked, "markers?timeline[]=home", "instance/rules", "trends/tags", "custom_emojis"):
        assert alice.api.get(f"/api/v1/{path}").status_code == 200, path
    assert alice.api.get("/api/v2/filters").json() == alice.read("lists") == alice.read("followed_tags") == []
    assert (
        alice.api.patch("/api/v1/accounts/update_credentials", {"source": {"privacy": "unlisted"}}).status_code == 200
    )
    assert alice.read("preferences")["posting:default:visibility"] == "unlisted"


def test_trap_53_revoking_with_undefined_client_credentials_is_refused_in_json(alice: Person) -> None:
    form = f"token={quote(str(alice.api.token))}&client_id=undefined&client_secret=undefined"
    answer = Api().post("/oauth/revoke", form=form)
    assert (answer.status_code, answer.json()["error"]) == (403, "unauthorized_client")
    assert "WWW-Authenticate" not in answer
    assert alice.read("lists") == [], "the token is still valid"


def test_trap_54_the_owner_of_a_locked_account_can_accept_follow_requests(alice: Person, bob: Person) -> None:
    carol = Person("carol")
    assert alice.api.patch("/api/v1/accounts/update_credentials", {"locked": True}).json()["locked"]
    for person in (bob, carol):
        assert person.do(f"accounts/{alice.id}/follow")["requested"]
    assert alice.ids("follow_requests") == [carol.id, bob.id]
    assert alice.do(f"follow_requests/{bob.id}/authorize")["followed_by"]
    assert not alice.do(f"follow_requests/{carol.id}/reject")["followed_by"]
    assert alice.ids("follow_requests") == []
    post = alice.post("for followers", visibility="private")
    assert bob.ids("timelines/home") == [post["id"]]
    assert carol.ids("timelines/home") == []
