"""Tests of favourites and boosts over the API, and of the lists of accounts that have favourited or boosted a post."""

from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from tests.factories.accounts import make_account
from tests.factories.statuses import (
    block,
    follow,
    make_reblog,
    make_status,
    mute,
)
from tests.statuses.conftest import api_of
from tests.support.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"


def test_seed_129_a_blocked_account_gets_404_for_everything_about_the_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    block(alice, bob)
    api = api_of(bob)
    unknown = api.get(f"{STATUSES}/1")
    for path in ("", "/context", "/favourited_by", "/reblogged_by"):
        assert api.get(f"{STATUSES}/{status.id}{path}").content == unknown.content
    for path in ("favourite", "unfavourite", "reblog", "unreblog"):
        assert api.post(f"{STATUSES}/{status.id}/{path}").content == unknown.content
    assert api.get(f"/api/v1/accounts/{alice.id}/statuses").json() == []


def test_an_account_that_blocks_the_author_may_not_favourite_or_boost(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    block(bob, alice)
    api = api_of(bob)
    for name in ("favourite", "reblog"):
        response = api.post(f"{STATUSES}/{status.id}/{name}")
        assert (response.status_code, response.json()) == (403, {"error": "This action is not allowed"})


def test_seed_120_undoing_returns_the_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    api = api_of(bob)
    for _time in range(2):
        liked = api.post(f"{STATUSES}/{status.id}/favourite").json()
        assert (liked["id"], liked["favourited"], liked["favourites_count"]) == (str(status.id), True, 1)
        boosted = api.post(f"{STATUSES}/{status.id}/reblog").json()
        assert boosted["reblog"]["reblogs_count"] == 1
    for _time in range(2):
        unliked = api.post(f"{STATUSES}/{status.id}/unfavourite").json()
        assert (unliked["id"], unliked["favourited"], unliked["favourites_count"]) == (str(status.id), False, 0)
        unboosted = api.post(f"{STATUSES}/{status.id}/unreblog").json()
        assert (unboosted["id"], unboosted["reblogged"], unboosted["reblogs_count"]) == (str(status.id), False, 0)


def test_seed_131_undoing_also_works_for_an_account_blocked_meanwhile(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    api = api_of(bob)
    api.post(f"{STATUSES}/{status.id}/favourite")
    api.post(f"{STATUSES}/{status.id}/reblog")
    api.post(f"{STATUSES}/{status.id}/bookmark")
    block(alice, bob)
    for name in ("unfavourite", "unreblog", "unbookmark"):
        response = api.post(f"{STATUSES}/{status.id}/{name}")
        assert (response.status_code, response.json()["id"]) == (200, str(status.id))
        assert api.post(f"{STATUSES}/{status.id}/{name}").status_code == 404


@pytest.mark.parametrize(("asked", "status"), [("unlisted", 200), ("", 200), ("direct", 422), ("x", 422), (["a"], 200)])
def test_a_boost_may_have_a_visibility(alice: Account, asked: Any, status: int) -> None:
    post = make_status(alice)
    assert api_of(alice).post(f"{STATUSES}/{post.id}/reblog", {"visibility": asked}).status_code == status


def test_private_posts_of_others_cannot_be_boosted(alice: Account, bob: Account) -> None:
    follow(bob, alice)
    post = make_status(alice, visibility="private")
    assert api_of(bob).post(f"{STATUSES}/{post.id}/reblog").status_code == 403
    assert api_of(alice).post(f"{STATUSES}/{post.id}/reblog").json()["visibility"] == "private"


def test_lists_of_favouriters_and_boosters_leave_out_blocked_muted_and_suspended_accounts(
    alice: Account, bob: Account, carol: Account
) -> None:
    status = make_status(alice)
    names = ("blocked", "blocking", "muted", "suspended", "kind")
    people = {name: make_account(name) for name in names}
    for person in people.values():
        api_of(person).post(f"{STATUSES}/{status.id}/favourite")
        api_of(person).post(f"{STATUSES}/{status.id}/reblog")
    block(bob, people["blocked"])
    block(people["blocking"], bob)
    mute(bob, people["muted"])
    Account.objects.filter(username="suspended").update(suspended_at=clock.now())
    for path in ("favourited_by", "reblogged_by"):
        shown = api_of(bob).get(f"{STATUSES}/{status.id}/{path}").json()
        assert [account["acct"] for account in shown] == ["kind"]
        everybody = Api().get(f"{STATUSES}/{status.id}/{path}").json()
        assert [account["acct"] for account in everybody] == ["kind", "muted", "blocking", "blocked"]


def test_private_boosts_notify_nobody(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    make_reblog(bob, status, "private")
    assert api_of(alice).get(f"{STATUSES}/{status.id}/reblogged_by").json() == []


def test_seed_118_lists_of_accounts_are_paged_by_row_id_not_by_account_id(alice: Account) -> None:
    status = make_status(alice)
    for _number in range(3):
        api_of(make_account()).post(f"{STATUSES}/{status.id}/favourite")
    response = api_of(alice).get(f"{STATUSES}/{status.id}/favourited_by?limit=2")
    assert 'rel="next"' in response["Link"]
    assert "since_id=" in response["Link"]
    newest = status.favourites.order_by("-id")[1].id
    assert f"max_id={newest}>" in response["Link"]


@pytest.mark.parametrize("limit", ["0", "abc", "-3", "1000000000", ""])
def test_strange_limits_are_kept_within_bounds(alice: Account, limit: str) -> None:
    for number in range(45):
        make_status(alice, str(number))
    response = api_of(alice).get(f"/api/v1/accounts/{alice.id}/statuses?limit={limit}")
    expected = {"0": 0, "abc": 0, "-3": 3, "1000000000": 40, "": 20}[limit]
    assert len(response.json()) == expected
    assert ("Link" in response.headers) == (expected > 0)
