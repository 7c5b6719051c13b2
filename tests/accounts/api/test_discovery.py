"""Tests of the directory and of suggestions (SEED-036; contract, behaviours section 14)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountStat, User
from accounts.services.blocking import block_domain
from social.kernel import clock
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import block, follow, mute
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def lively(name: str, *, followers: int = 1, hours_ago: int = 1, **values: Any) -> Account:
    made = make_remote(name, **values) if "domain" in values else make_account(name, **{"discoverable": True} | values)
    Account.objects.filter(id=made.id).update(discoverable=values.get("discoverable", True))
    AccountStat.objects.create(
        account=made, followers_count=followers, last_status_at=clock.now() - timedelta(hours=hours_ago)
    )
    return made


def names(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [account["acct"] for account in answer.json()]


def test_the_directory_shows_discoverable_accounts_by_their_last_post(ann: User, api: Api) -> None:
    lively("bea", hours_ago=5)
    lively("cat", hours_ago=1)
    lively("dot", domain="remote.example", hours_ago=3)
    lively("shy", discoverable=None)
    lively("limited", limited_at=clock.now())
    lively("suspended", suspended_at=clock.now())
    lively("moved", moved_to=make_account())
    make_account("silent", discoverable=True)
    assert names(Api().get("/api/v1/directory")) == ["cat", "dot@remote.example", "bea"]
    assert names(Api().get("/api/v1/directory", {"order": "new"})) == ["dot@remote.example", "cat", "bea"]
    assert names(Api().get("/api/v1/directory", {"local": "true"})) == ["cat", "bea"]
    assert names(Api().get("/api/v1/directory", {"limit": 1, "offset": 1})) == ["dot@remote.example"]
    assert "Link" not in Api().get("/api/v1/directory", {"limit": 1})
    assert len(names(api.get("/api/v1/directory", {"order": "nonsense"}))) == 3
    assert names(Api().get("/api/v1/directory", {"limit": 0})) == []


def test_the_directory_keeps_accounts_whose_posts_and_follows_are_gone(ann: User) -> None:
    poster, follower, followed = (make_user(name, discoverable=True) for name in ("poster", "follower", "followed"))
    make_user("silent", discoverable=True)
    post = Api(make_token(poster)).post("/api/v1/statuses", {"status": "hello"}).json()
    Api(make_token(poster)).delete(f"/api/v1/statuses/{post['id']}")
    for verb in ("follow", "unfollow"):
        Api(make_token(follower)).post(f"/api/v1/accounts/{followed.account_id}/{verb}")
    assert names(Api().get("/api/v1/directory")) == ["poster", "followed", "follower"]


def test_the_directory_leaves_out_accounts_that_the_viewer_hides(ann: User, api: Api) -> None:
    for number, act in enumerate((block, mute)):
        act(ann.account, lively(f"hidden{number}"))
    block(lively("blocker"), ann.account)
    lively("far", domain="remote.example")
    lively("near", domain="other.example")
    block_domain(account=ann.account, domain="remote.example")
    assert names(api.get("/api/v1/directory")) == ["near@other.example"]
    assert len(names(Api().get("/api/v1/directory"))) == 5


def test_seed_036_suggestions_are_friends_of_friends_then_the_most_followed(ann: User, api: Api) -> None:
    friend, other = make_account("friend"), make_account("other")
    for person in (friend, other):
        follow(ann.account, person)
    both, one, popular = lively("both"), lively("one"), lively("popular", followers=99)
    follow(friend, both)
    follow(other, both)
    follow(friend, one)
    found = api.get("/api/v2/suggestions").json()
    assert [(item["account"]["acct"], item["source"], item["sources"]) for item in found] == [
        ("both", "past_interactions", ["friends_of_friends"]),
        ("one", "past_interactions", ["friends_of_friends"]),
        ("popular", "global", ["most_followed"]),
    ]
    assert names(api.get("/api/v1/suggestions")) == ["both", "one", "popular"]
    for answer in (api.get("/api/v1/suggestions"), Api().get("/api/v1/suggestions")):
        assert answer["Deprecation"] == "@1621123200"
    assert names(api.get("/api/v1/suggestions", {"limit": 1, "offset": 1})) == ["one"]
    for _time in range(2):
        answer = api.delete(f"/api/v1/suggestions/{both.id}")
        assert (answer.status_code, answer.json()) == (200, {})
    for nobody in ("1", "abc", "-1", str(2**70)):
        answer = api.delete(f"/api/v1/suggestions/{nobody}")
        assert (answer.status_code, answer.json()) == (200, {})
    assert names(api.get("/api/v1/suggestions")) == ["one", "popular"]
    follow(ann.account, popular)
    assert names(api.get("/api/v1/suggestions")) == ["one"]


def test_accounts_that_must_not_be_suggested_are_left_out(ann: User, api: Api) -> None:
    friend = make_account()
    follow(ann.account, friend)
    Account.objects.filter(id=ann.account_id).update(discoverable=True)
    unwanted = [
        lively("shy", discoverable=False),
        lively("limited", limited_at=clock.now()),
        lively("suspended", suspended_at=clock.now()),
        lively("blocked"),
        lively("muted"),
        lively("locked", locked=True),
        ann.account,
    ]
    for account in unwanted:
        follow(friend, account)
    block(ann.account, unwanted[3])
    mute(ann.account, unwanted[4])
    api.post(f"/api/v1/accounts/{unwanted[5].id}/follow")
    assert names(api.get("/api/v1/suggestions")) == []


def test_friends_who_hide_their_network_suggest_nobody(ann: User, api: Api) -> None:
    friend = make_account(hide_collections=True)
    follow(ann.account, friend)
    follow(friend, lively("found", followers=0))
    assert names(api.get("/api/v1/suggestions")) == []


@pytest.mark.parametrize("path", ["/api/v1/suggestions", "/api/v2/suggestions"])
def test_suggestions_need_a_user_and_the_scope(ann: User, path: str) -> None:
    assert Api().get(path).status_code == 401
    assert Api(make_token(None)).get(path).status_code == 422
    assert Api(make_token(ann, "write")).get(path).status_code == 403
    assert Api(make_token(ann, "read:accounts")).get(path).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/directory", "/api/v2/suggestions"])
def test_a_page_costs_the_same_for_few_and_for_many(ann: User, api: Api, path: str) -> None:
    for number in range(12):
        lively(f"found{number}")

    def queries(limit: int) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert len(api.get(path, {"limit": limit}).json()) == limit
        return len(seen)

    queries(12)
    assert queries(2) == queries(12)
