"""What hangs on the profile of somebody elsewhere is read from their server (contract, federation section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Account, AccountStat, Follow
from accounts.services.following import FollowChange, follow_account
from federation.remote.actors import fetch_actor, refresh
from statuses.services.recounting import recount_statuses
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import make_status
from tests.federation.activities import deal, introduced
from tests.federation.remote_server import ACTIVITY, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.site import Site
from tests.support.work import work

pytestmark = pytest.mark.django_db
COUNTS = ("followers_count", "following_count", "statuses_count")


def _network(someone: RemotePerson, *, pages: bool = True, **totals: Any) -> None:
    for name, total in totals.items():
        uri = f"{someone.uri}/{name}"
        first = {"first": f"{uri}?page=1"} if pages else {}
        someone.home.serve({"id": uri, "type": "OrderedCollection", "totalItems": total} | first)


def _counts(entity: dict[str, Any]) -> list[int]:
    return [entity[name] for name in COUNTS]


def test_a_profile_shows_the_totals_of_its_own_server_wherever_it_stands(zoe: RemotePerson, alice: Account) -> None:
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
    assert _counts(api.get(path).json()) == [1200, 34, 560], "they are not ours to count"
    stat = AccountStat.objects.get(account=account)
    assert (stat.followers_count, stat.statuses_count) == (0, 1), "what is counted here ranks people"


def test_a_total_that_is_no_count_is_not_shown_and_a_great_one_keeps_nobody_from_following(
    zoe: RemotePerson, alice: Account
) -> None:
    account = introduced(zoe, alice)
    for number, (said, shown) in enumerate(((-5, 0), ("many", 0), (True, 0), (10**15, 2**31 - 1), (None, 0))):
        _network(zoe, followers=said, following=said, outbox=said)
        refresh(account)
        work()
        assert _counts(Api().get(f"/api/v1/accounts/{account.id}").json()) == [shown, max(shown, number), shown]
        carol = make_account()
        assert deal(zoe, zoe.activity("Follow", carol.uri)) == "done"
        assert Follow.objects.filter(account=account, target=carol).exists()


def test_who_hides_the_network_elsewhere_hides_it_here(zoe: RemotePerson, alice: Account) -> None:
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


def test_who_hides_the_network_here_gives_other_servers_the_numbers_only(zoe: RemotePerson, alice: Account) -> None:
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


def test_a_suspended_account_makes_this_server_ask_nothing(
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


def test_row_03_links_of_somebody_elsewhere_are_verified_by_this_server_alone(
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
    assert _verified(account) == [False] * 6, "nobody else's word counts"
    work()
    assert _verified(account) == [True] + [False] * 5
    assert site.asked == ["/me", "/silent", "/redirect", "/me"]
    site.asked.clear()
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"attachment": [shown[0], _field("words")]})) == "done"
    assert (_verified(account), site.asked) == ([True, False], []), "what is verified stays so"
    many = [_field(f'<a href="{site.show(f"/{number}", back)}">{site.address}/{number}</a>') for number in range(50)]
    assert deal(zoe, zoe.activity("Update", zoe.document() | {"attachment": many})) == "done"
    assert (_verified(account), len(site.asked)) == ([True] * 4 + [False] * 46, 4)
