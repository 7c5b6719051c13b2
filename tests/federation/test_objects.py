"""Tests of searching for remote objects by their addresses (contract, behaviours section 15)."""

from typing import Any
from urllib.parse import urlencode

import pytest

from accounts.models import Account, FollowRequest
from statuses.models import Status
from tests.factories.accounts import make_token
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer
from tests.support.client import Api, signed_in

pytestmark = pytest.mark.django_db


def found(alice: Account, url: str) -> dict[str, Any]:
    answer = Api(make_token(alice.user, "read:search")).get("/api/v2/search", {"q": url, "resolve": "true"})
    assert answer.status_code == 200
    body: dict[str, Any] = answer.json()
    return {kind: [one["id"] for one in body[kind]] for kind in ("accounts", "statuses")}


def test_trap_39_searching_for_the_page_of_a_remote_post_finds_the_post(
    alice: Account, elsewhere: RemoteServer, zoe: RemotePerson
) -> None:
    note = elsewhere.serve(zoe.note())
    link = f'<link href="{note["id"]}" type="application/activity+json" rel="alternate">'
    page = Answer(f"<html><head>{link}</head></html>".encode(), "text/html; charset=utf-8")
    elsewhere.pages["/@zoe/1"] = page
    shown = found(alice, elsewhere.uri("@zoe/1"))
    post = Status.objects.get(uri=note["id"])
    assert shown == {"accounts": [], "statuses": [str(post.id)]} == found(alice, str(note["id"]))
    asked = len(elsewhere.asked)
    assert found(alice, str(note["id"])) == shown
    assert len(elsewhere.asked) == asked, "a known object is not fetched again"
    assert found(alice, zoe.uri) == {"accounts": [str(post.account_id)], "statuses": []}


@pytest.mark.parametrize(
    ("tag", "header"),
    [
        ('<link rel="alternate" type="application/activity+json" href="/users/zoe/statuses/1">', ""),
        ('<link rel="alternate" type="application/activity+json" href="/users/zoe/statuses/1?json">', ""),
        ("<LINK REL=alternate TYPE=application/activity+json HREF=statuses/1>", ""),
        ("", '<{}>; rel="alternate"; type="application/activity+json"'),
        ("", "</style.css>; rel=preload; as=style, <{}>; rel=alternate; type=application/activity+json"),
        (
            '<link rel="alternate" type="application/rss+xml" href="/feed">',
            '<statuses/1>;type="application/ld+json; profile=\\"x\\"" ; rel="alternate self"',
        ),
    ],
)
def test_a_page_may_link_to_its_document_by_a_relative_address_or_in_a_header(
    alice: Account, elsewhere: RemoteServer, zoe: RemotePerson, tag: str, header: str
) -> None:
    note = elsewhere.serve(zoe.note())
    page = f"<html><head>{tag}</head></html>".encode()
    headers = {"Link": header.format(note["id"])} if header else {}
    elsewhere.pages["/users/zoe/page"] = Answer(page, "text/html", headers=headers)
    shown = found(alice, elsewhere.uri("users/zoe/page"))
    assert shown["statuses"] == [str(Status.objects.get(uri=note["id"]).id)]


def test_a_search_for_an_address_without_an_object_finds_nothing(
    alice: Account, elsewhere: RemoteServer, zoe: RemotePerson
) -> None:
    elsewhere.pages["/plain"] = Answer(b"<html></html>", "text/html")
    for path, target in (("/loop", "loop"), ("/local", "http://127.0.0.1/x"), ("/odd", "javascript:alert(1)")):
        href = elsewhere.uri(target) if target == "loop" else target
        link = f'<link rel="alternate" type="application/activity+json" href="{href}">'
        elsewhere.pages[path] = Answer(link.encode(), "text/html")
    elsewhere.serve(zoe.note(number=2) | {"attributedTo": "https://elsewhere.example/users/eve"})
    for path in ("plain", "loop", "local", "odd", "missing", "users/zoe/statuses/2"):
        assert found(alice, elsewhere.uri(path)) == {"accounts": [], "statuses": []}, path
    assert not Status.objects.exists()


def test_links_from_remote_pages_lead_to_a_local_page_for_following_and_boosting(
    alice: Account, elsewhere: RemoteServer, zoe: RemotePerson
) -> None:
    browser = signed_in(alice.user)
    note = elsewhere.serve(zoe.note(content="<p>A garden elsewhere</p>"))
    page = browser.get("/authorize_interaction", {"uri": note["id"]})
    assert b"A garden elsewhere" in page.content
    browser.post("/authorize_interaction?" + urlencode({"uri": note["id"]}), {"act": "boost"})
    assert Status.objects.filter(account=alice, reblog_of__uri=note["id"]).exists()
    for uri in (f"acct:{zoe.name}@{elsewhere.domain}", zoe.uri):
        assert f"@{zoe.name}@".encode() in browser.get("/authorize_interaction", {"uri": uri}).content
    browser.post("/authorize_interaction?" + urlencode({"uri": zoe.uri}))
    assert FollowRequest.objects.filter(account=alice, target__uri=zoe.uri).exists()
    for nothing in (elsewhere.uri("nothing"), f"acct:nobody@{elsewhere.domain}"):
        assert browser.get("/authorize_interaction", {"uri": nothing}).status_code == 404
