"""Tests of reading the collections of a remote profile from its server (contract, federation section 4)."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account, AccountStat, Follow, FollowRequest, User
from accounts.services.following import FollowChange, follow_account
from federation.documents.reading import MAX_COUNT
from federation.inbound.fetch_queue import FETCHES
from federation.models import Fetch, FetchKind
from federation.remote import requests
from federation.remote.actors import fetch_actor, refresh
from federation.remote.profiles import read_outbox
from federation.remote.refreshing import request_unseen
from social.api.limits import Rule
from social.kernel import clock
from statuses.models import Status
from statuses.services.recounting import recount_statuses
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import make_status
from tests.federation.activities import deal, introduced, met
from tests.federation.remote_server import ACTIVITY, Answer, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.site import Site
from tests.support.work import work

pytestmark = pytest.mark.django_db
COUNTS = ("followers_count", "following_count", "statuses_count")


@pytest.fixture
def collections() -> None:
    """Keep the collections in actor documents."""


def _network(someone: RemotePerson, *, pages: bool = True, **totals: Any) -> None:
    for name, total in totals.items():
        uri = f"{someone.uri}/{name}"
        first = {"first": f"{uri}?page=1"} if pages else {}
        someone.home.serve({"id": uri, "type": "OrderedCollection", "totalItems": total} | first)


def _counts(entity: dict[str, Any]) -> list[int]:
    return [entity[name] for name in COUNTS]


def test_every_entity_of_a_remote_account_shows_the_totals_of_its_own_server(zoe: RemotePerson, alice: Account) -> None:
    _network(zoe, followers=1200, following=34, outbox=560)
    account = introduced(zoe, alice)
    work()
    assert deal(zoe, zoe.activity("Create", zoe.note())) == "done"
    api, path = Api(), f"/api/v1/accounts/{account.id}"
    for _cached in range(2):
        entity = api.get(path).json()
        assert _counts(entity) == [1200, 34, 560]
        assert _counts(api.get(f"{path}/statuses").json()[0]["account"]) == [1200, 34, 560]
        assert _counts(api.get(f"/api/v1/accounts/{alice.id}/following").json()[0]) == [1200, 34, 560]
    assert entity["hide_collections"] is False
    list(recount_statuses())
    assert _counts(api.get(path).json()) == [1200, 34, 560], "the counts are those of the account's own server"
    stat = AccountStat.objects.get(account=account)
    assert (stat.followers_count, stat.statuses_count) == (0, 1), "rankings use the local counts"
    follow_account(account=make_account("bob"), target=account, change=FollowChange())
    assert deal(zoe, zoe.activity("Accept", FollowRequest.objects.get().uri)) == "done"
    assert _counts(api.get(path).json()) == [1201, 34, 560], "a local follow is counted immediately"


def test_an_invalid_total_is_not_shown_and_a_huge_one_does_not_prevent_follows(
    zoe: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    for number, (said, shown) in enumerate(((-5, 0), ("many", 0), (True, 0), (10**15, MAX_COUNT), (None, 0))):
        _network(zoe, followers=said, following=said, outbox=said)
        refresh(account)
        work()
        assert _counts(Api().get(f"/api/v1/accounts/{account.id}").json()) == [shown, max(shown, number), shown]
        carol = make_account()
        assert deal(zoe, zoe.activity("Follow", carol.uri)) == "done"
        assert Follow.objects.filter(account=account, target=carol).exists()
        counts = _counts(Api().get(f"/api/v1/accounts/{account.id}").json())
        assert max(counts) < 2**31, "some clients read numbers of 32 bits"


def test_an_account_that_hides_its_network_on_its_server_hides_it_here(zoe: RemotePerson, alice: Account) -> None:
    _network(zoe, followers=3, following=2, pages=False)
    account = introduced(zoe, alice)
    work()
    api, path = Api(make_token(make_user("carol"))), f"/api/v1/accounts/{account.id}"
    entity = api.get(path).json()
    assert (entity["hide_collections"], _counts(entity)) == (True, [3, 2, 0])
    assert api.get(f"{path}/followers").json() == []
    _network(zoe, followers=3, following=2)
    refresh(account)
    work()
    assert api.get(path).json()["hide_collections"] is False
    assert len(api.get(f"{path}/followers").json()) == 1


def test_a_remote_account_that_hides_its_network_hides_it_here_once_caches_have_expired(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    _network(zoe, followers=3, following=2)
    account = introduced(zoe, alice)
    work()
    api, path = Api(make_token(make_user("carol"))), f"/api/v1/accounts/{account.id}"
    assert len(api.get(f"{path}/followers").json()) == 1
    _network(zoe, followers=3, following=2, pages=False)
    asked = len(elsewhere.gets())
    for name in ("Zoe", "Zoe the Hidden"):
        assert deal(zoe, zoe.activity("Update", zoe.document() | {"name": name})) == "done"
    work()
    assert len(elsewhere.gets()) == asked
    waiting = Fetch.objects.get(kind=FetchKind.PROFILE)
    assert waiting.due_at - clock.now() > timedelta(minutes=3)
    Fetch.objects.update(due_at=clock.now())
    FETCHES.run()
    assert api.get(path).json()["hide_collections"] is True
    assert api.get(f"{path}/followers").json() == []


def test_a_local_account_that_hides_its_network_publishes_only_the_counts(zoe: RemotePerson, alice: Account) -> None:
    carol = make_account("carol")
    follow_account(account=alice, target=carol, change=FollowChange())
    follow_account(account=carol, target=alice, change=FollowChange())
    Account.objects.filter(id=alice.id).update(hide_collections=True)
    api, headers = Api(), {"Accept": ACTIVITY}
    for name in ("followers", "following"):
        document = api.get(f"/users/alice/{name}", headers=headers).json()
        assert (document["totalItems"], {"first", "items", "orderedItems"} & set(document)) == (1, set())
        assert api.get(f"/users/alice/{name}?page=1", headers=headers).status_code == 403


def test_the_tabs_of_a_profile_are_those_that_its_owner_shows(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = fetch_actor(zoe.uri)
    names = ("show_media", "show_media_replies", "show_featured")
    path = f"/api/v1/accounts/{account.id}"
    assert [Api().get(path).json()[name] for name in names] == [True, True, True]
    elsewhere.serve(zoe.document() | {"showMedia": False, "showRepliesInMedia": False, "showFeatured": False})
    refresh(account)
    assert [Api().get(path).json()[name] for name in names] == [False, False, False]


def test_a_suspended_account_causes_no_requests_to_its_server(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    elsewhere.serve(zoe.document() | {"suspended": True})
    fetch_actor(zoe.uri)
    elsewhere.asked.clear()
    make_status(alice)
    work()
    assert elsewhere.asked == []


def _field(shown: str) -> dict[str, str]:
    return {"type": "PropertyValue", "name": "Me", "value": shown}


def _verified(account: Account) -> list[bool]:
    return [bool(item["verified_at"]) for item in Api().get(f"/api/v1/accounts/{account.id}").json()["fields"]]


def test_row_03_links_of_remote_profiles_are_verified_by_this_server_itself(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, site: Site
) -> None:
    back = f'<a rel="me" href="{elsewhere.uri("@zoe")}">me</a>'
    good, other = site.show("/me", back), site.show("/other", back)
    moved = site.show("/redirect", back, 302, Location=good)
    long = site.address.removeprefix("http://")
    spans = f'<a href="{good}"><span class="invisible">http://</span><span>{long}/</span><span class="invisible">me</span></a>'
    shown = [
        _field(spans) | {"verified_at": "2020-01-01T00:00:00Z"},
        _field(f'<a href="{site.show("/silent", "nothing")}">{site.address}/silent</a>'),
        _field(f'<a href="{other}">https://bank.example/</a>'),
        _field(f'<a href="{other}">{other}</a> and more'),
        _field(moved),
        _field(f'<a href="{moved}">{moved}</a>'),
    ]
    elsewhere.serve(zoe.document() | {"attachment": shown})
    account = introduced(zoe, alice)
    assert _verified(account) == [False] * 6, "only this server's own verification counts"
    work()
    assert _verified(account) == [True] + [False] * 5
    assert site.asked == ["/me", "/silent", "/redirect", "/me"]
    site.asked.clear()
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"attachment": [shown[0], _field("words")]})) == "done"
    assert (_verified(account), site.asked) == ([True, False], []), "verified links stay verified"
    many = [_field(f'<a href="{site.show(f"/{number}", back)}">{site.address}/{number}</a>') for number in range(50)]
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"attachment": many})) == "done"
    assert (_verified(account), len(site.asked)) == ([True] * 4 + [False] * 46, 4)


def test_row_71_requests_to_third_servers_caused_by_profiles_of_strangers_are_limited(
    zoe: RemotePerson, alice: Account, site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.RATE_LIMITS = True
    monkeypatch.setattr(requests, "LOOK_UPS", Rule("look_ups", 3, 86400, "account"))
    account = introduced(zoe, alice)
    for turn in range(3):
        links = [site.show(f"/{turn}/{number}", "nothing") for number in range(4)]
        shown = [_field(f'<a href="{link}">{link}</a>') for link in links]
        assert deal(zoe, zoe.activity("Update", zoe.document() | {"attachment": shown})) == "done"
    assert len(_verified(account)) == 4
    assert len(site.asked) <= 3


def _outbox(zoe: RemotePerson, *pages: list[Any]) -> None:
    uris = [f"{zoe.uri}/outbox/{number}" for number in range(len(pages))]
    zoe.home.serve({"id": f"{zoe.uri}/outbox", "type": "OrderedCollection", "totalItems": 90, "first": uris[0]})
    for number, items in enumerate(pages):
        after = {"next": uris[number + 1]} if number + 1 < len(pages) else {}
        zoe.home.serve({"id": uris[number], "type": "OrderedCollectionPage", "orderedItems": items} | after)


def _created(someone: RemotePerson, number: int, **more: Any) -> dict[str, Any]:
    published = clock.iso(clock.now() - timedelta(days=number))
    return someone.activity("Create", someone.note(f"<p>{number}</p>", number, published=published, **more))


def _accepted(zoe: RemotePerson, api: Api) -> Account:
    """Let the user follow Zoe and Zoe accept, and return her account."""
    account = met(zoe)
    zoe.home.asked.clear()
    assert api.post(f"/api/v1/accounts/{account.id}/follow").status_code == 200
    work()
    follow = zoe.home.delivered("Follow")[0]
    assert deal(zoe, zoe.activity("Accept", follow)) == "done"
    return account


def test_the_latest_posts_of_a_newly_followed_account_are_fetched(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    mallory = elsewhere.person("mallory", key=2)
    answered = zoe.note(number=2)["id"]
    boost = zoe.activity("Announce", mallory.note()["id"])
    forged = zoe.activity("Create", mallory.note(number=7))
    named = zoe.activity("Create", elsewhere.serve(zoe.note("<p>3</p>", 3, published="2020-01-01T00:00:00Z"))["id"])
    _outbox(zoe, [_created(zoe, 1, inReplyTo=answered), boost, forged, 7], [_created(zoe, 2), named])
    api = Api(make_token(User.objects.get(account=alice)))
    account = _accepted(zoe, api)
    shown = [f"<p>{number}</p>" for number in (1, 2, 3)]
    posts = api.get(f"/api/v1/accounts/{account.id}/statuses").json()
    assert [post["content"] for post in posts] == shown
    assert posts[0]["in_reply_to_id"] == posts[1]["id"]
    assert [post["content"] for post in api.get("/api/v1/timelines/home").json()] == shown
    assert api.get("/api/v1/notifications").json() == []
    assert not Status.objects.exclude(account=account).exists()
    _accepted(zoe, Api(make_token(make_user("carol"))))
    assert not [path for path in elsewhere.gets() if "outbox" in path], "the account had local followers before"


@pytest.mark.parametrize("is_paged", [False, True])
def test_collections_of_static_sites_need_no_id(elsewhere: RemoteServer, zoe: RemotePerson, is_paged: bool) -> None:
    items = {"orderedItems": [_created(zoe, 1)]}
    elsewhere.serve({"type": "OrderedCollectionPage", **items}, f"/users/{zoe.name}/page")
    pages = {"first": f"{zoe.uri}/page"} if is_paged else items
    elsewhere.serve({"type": "OrderedCollection", **pages}, f"/users/{zoe.name}/outbox")
    fetch_actor(zoe.uri)
    read_outbox(zoe.uri)
    assert Status.objects.get().account.uri == zoe.uri


def test_the_latest_posts_of_an_outbox_without_pages_are_fetched(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    outbox = {"id": f"{zoe.uri}/outbox", "type": "OrderedCollection", "totalItems": 90}
    elsewhere.serve(outbox | {"orderedItems": [_created(zoe, number) for number in range(1, 91)]})
    api = Api(make_token(User.objects.get(account=alice)))
    account = _accepted(zoe, api)
    numbers = Status.objects.filter(account=account).order_by("-id").values_list("content", flat=True)
    assert list(numbers) == [f"<p>{number}</p>" for number in range(1, 41)]


def test_row_34_an_outbox_is_read_up_to_a_bound_however_long_it_is(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    pages = [[_created(zoe, number) for number in range(page * 15 + 1, page * 15 + 16)] for page in range(6)]
    _outbox(zoe, *pages)
    elsewhere.pages["/users/zoe/outbox/5"] = elsewhere.pages["/users/zoe/outbox/0"]
    api = Api(make_token(User.objects.get(account=alice)))
    account = _accepted(zoe, api)
    numbers = Status.objects.filter(account=account).order_by("-id").values_list("content", flat=True)
    assert list(numbers) == [f"<p>{number}</p>" for number in range(1, 41)]
    assert len([path for path in elsewhere.gets() if "outbox" in path]) == 4


@pytest.mark.parametrize("answer", ["410", "Tombstone"])
def test_a_deleted_remote_account_is_deleted_here_at_the_next_fetch(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, answer: str
) -> None:
    account = introduced(zoe, alice)
    path = "/users/zoe"
    elsewhere.pages[path] = Answer(b"{}", status=404)
    Account.objects.update(fetched_at=clock.now() - timedelta(days=8))
    assert request_unseen() == 1
    work()
    assert Account.objects.get(id=account.id).deleted_at is None, "an account that returns 404 may come back"
    if answer == "410":
        elsewhere.pages[path] = Answer(b"{}", status=410)
    else:
        elsewhere.serve({"id": zoe.uri, "type": "Tombstone"})
    Account.objects.update(fetched_at=clock.now() - timedelta(days=8))
    assert request_unseen() == 1
    work()
    assert not Account.objects.filter(id=account.id, deleted_at=None).exists()
    assert not Follow.objects.exists()
    elsewhere.serve(zoe.document())
    assert fetch_actor(zoe.uri).id != account.id, "an account that its server shows again gets a new row"


def test_followed_remote_accounts_are_fetched_again_every_week(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    fetch_actor(elsewhere.person("stranger", key=2).uri)
    work()
    assert request_unseen() == 0
    elsewhere.serve(zoe.document() | {"name": "New"})
    Account.objects.update(fetched_at=clock.now() - timedelta(days=8))
    assert (request_unseen(), request_unseen()) == (1, 0), (
        "accounts without local followers are fetched only when they send something"
    )
    work()
    account.refresh_from_db()
    assert account.display_name == "New"
