"""Tests of followers synchronization, which repairs follows (FEP-8fcf; contract, federation section 9)."""

from typing import Any

import pytest

from accounts.models import Account, AccountStat, Follow, FollowRequest
from accounts.services.following import FollowChange, follow_account
from federation.documents.synchronization import digest_of
from federation.inbound.fetch_queue import FETCHES
from federation.models import Fetch, FetchKind
from social.kernel import clock
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import edit, follow, make_status
from tests.federation.activities import introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
HEADER = "collection-synchronization"


def headers_of(server: RemoteServer) -> list[str | None]:
    """Return the header of each delivery that has arrived, and clear the list of requests."""
    work()
    posted = [asked for asked in server.asked if asked.method == "POST"]
    server.asked.clear()
    assert all((HEADER in asked.headers) is (HEADER in asked.headers["signature"]) for asked in posted), (
        "the header is signed"
    )
    return [asked.headers.get(HEADER) for asked in posted]


def header_of(zoe: RemotePerson, *followers: Account, **changes: str) -> dict[str, str]:
    values = {
        "collectionId": f"{zoe.uri}/followers",
        "digest": digest_of(follower.uri for follower in followers),
        "url": f"{zoe.uri}/followers_synchronization",
    } | changes
    return {HEADER: ", ".join(f'{name}="{value}"' for name, value in values.items())}


def serve(zoe: RemotePerson, *followers: Account) -> None:
    uri = f"{zoe.uri}/followers_synchronization"
    zoe.home.serve({"id": uri, "type": "OrderedCollection", "orderedItems": [one.uri for one in followers]})


def send_private(zoe: RemotePerson, number: int, headers: dict[str, str]) -> None:
    note = zoe.note(number=number, to=[f"{zoe.uri}/followers"], cc=[])
    assert zoe.send(zoe.activity("Create", note), **headers).status_code == 202
    work()


def look() -> None:
    """Run the fetches of followers now; otherwise they would be due a minute later."""
    Fetch.objects.filter(kind=FetchKind.FOLLOWERS).update(due_at=clock.now())
    FETCHES.run()
    work()


def test_a_followers_only_post_is_sent_with_a_digest_of_the_receiving_servers_followers(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account, settings: Any
) -> None:
    follow(make_remote("stranger", "third.example"), alice)
    url = "http://social.localhost/users/alice/followers_synchronization"
    expected = f'collectionId="{alice.uri}/followers", digest="{digest_of([zoe.uri])}", url="{url}"'
    status = make_status(alice, "one", visibility="private")
    assert headers_of(elsewhere) == [expected]
    edit(status, "two")
    assert headers_of(elsewhere) == [expected]
    make_status(alice, "for everybody")
    make_status(alice, f"@{zoe_here.acct}", visibility="direct")
    assert headers_of(elsewhere) == [None, None]
    settings.DISABLE_FOLLOWERS_SYNCHRONIZATION = True
    make_status(alice, "one", visibility="private")
    settings.DISABLE_FOLLOWERS_SYNCHRONIZATION = False
    assert headers_of(elsewhere) == [expected], "the digest is computed when the post is sent"
    AccountStat.objects.filter(account=alice).update(followers_count=25_000)
    make_status(alice, "one", visibility="private")
    assert headers_of(elsewhere) == [None]


def test_the_digest_equals_the_one_of_mastodon() -> None:
    recorded = "928c086e06a696f25f904ba3a04781e4815680d95f8479924cb9a2592e8e15f3"
    assert digest_of(["https://local.example/users/bob"]) == recorded
    assert digest_of(["x", "y", "x", "y"]) == digest_of([]) == "0" * 64


def test_a_server_can_fetch_only_its_own_followers(
    elsewhere: RemoteServer, zoe: RemotePerson, zoe_here: Account, alice: Account
) -> None:
    follow(make_remote("stranger", "third.example"), alice)
    path = "/users/alice/followers_synchronization"
    answer = zoe.get(path)
    assert answer.json() == {
        "@context": "https://www.w3.org/ns/activitystreams",
        "id": f"http://social.localhost{path}",
        "type": "OrderedCollection",
        "orderedItems": [zoe.uri],
    }
    assert "no-store" in answer["Cache-Control"]
    assert Api().get(path, headers={"Accept": "application/activity+json"}).status_code == 401
    with RemoteServer().running() as third:
        assert third.person("yan").get(path).json()["orderedItems"] == []


def test_follows_are_corrected_to_the_list_of_the_followed_accounts_server(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """A lost Accept, a lost Undo and a lost Follow are each repaired once, and no other follow changes."""
    zoe_here = introduced(zoe, alice)
    bob, cyd, dan = (make_account(name) for name in ("bob", "cyd", "dan"))
    follow_account(account=bob, target=zoe_here, change=FollowChange())
    follow(dan, zoe_here, uri="http://social.localhost/1")
    follow(make_remote("yan", "third.example"), zoe_here)
    work()
    elsewhere.asked.clear()
    listed = (alice, bob, cyd)
    serve(zoe, *listed)
    for number in range(3):
        send_private(zoe, number, header_of(zoe, *listed))
    assert elsewhere.gets() == [], "the list is fetched only after activities in transit had time to arrive"
    look()
    assert elsewhere.gets() == ["/users/zoe/followers_synchronization"]
    local = Follow.objects.filter(target=zoe_here, account__domain=None)
    assert set(local.values_list("account__username", flat=True)) == {"alice", "bob"}
    assert not FollowRequest.objects.exists()
    assert Follow.objects.filter(target=zoe_here).count() == 3
    (undo,) = elsewhere.delivered()
    assert (undo["type"], undo["actor"], undo["object"]["object"]) == ("Undo", cyd.uri, zoe.uri)
    send_private(zoe, 4, header_of(zoe, alice, bob))
    assert not Fetch.objects.exists(), "both servers agree now"


@pytest.mark.parametrize(
    "headers",
    [
        {"url": "http://localhost:9/users/zoe/followers_synchronization"},
        {"collectionId": "http://localhost:9/users/zoe/followers"},
        {"digest": "x" * 64},
        {"digest": "0" * 7000},
        {"url": "javascript:1"},
    ],
)
def test_no_followers_are_requested_for_a_header_about_another_collection(
    zoe: RemotePerson, alice: Account, headers: dict[str, str]
) -> None:
    introduced(zoe, alice)
    send_private(zoe, 1, header_of(zoe, **headers))
    assert not Fetch.objects.exists()


def test_an_incomplete_or_unexpected_list_of_followers_ends_no_follow(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """The cases: another list, a page on another server, endless pages, no list."""
    zoe_here, bob = introduced(zoe, alice), make_account("bob")
    uri = f"{zoe.uri}/followers_synchronization"
    page = {"id": uri, "type": "OrderedCollection", "orderedItems": []}
    lists: list[dict[str, Any]] = [
        page,
        page | {"orderedItems": [bob.uri], "next": "http://localhost:9/more"},
        page | {"orderedItems": [bob.uri], "next": f"{uri}?page=2"},
        {"id": uri, "type": "Note", "items": [bob.uri]},
    ]
    for number, found in enumerate(lists):
        elsewhere.serve(found)
        Fetch.objects.all().delete()
        send_private(zoe, number, header_of(zoe, bob))
        look()
        assert Fetch.objects.get().dead_at is not None, number
        assert Follow.objects.filter(account=alice, target=zoe_here).exists()
