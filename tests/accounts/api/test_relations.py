"""Tests of following, blocking and muting, and of the entity Relationship (SEED-003, 056-062, 104, 105, 149, 150)."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from accounts.models import Account, AccountStat, Follow, FollowRequest, User
from social.kernel import clock
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
KEYS = {
    "id",
    "following",
    "showing_reblogs",
    "notifying",
    "languages",
    "followed_by",
    "blocking",
    "blocked_by",
    "muting",
    "muting_notifications",
    "muting_expires_at",
    "requested",
    "requested_by",
    "domain_blocking",
    "endorsed",
    "note",
}


@pytest.fixture
def alice() -> User:
    return make_user("alice")


@pytest.fixture
def api(alice: User) -> Api:
    return Api(make_token(alice))


@pytest.fixture
def bob() -> Account:
    return make_account("bob")


def act(api: Api, target: Account, verb: str, data: object = None) -> dict[str, object]:
    answer = api.post(f"/api/v1/accounts/{target.id}/{verb}", data)
    assert answer.status_code == 200, answer.content
    body: dict[str, object] = answer.json()
    assert set(body) == KEYS
    return body


def test_following_an_unlocked_account_takes_effect_immediately(api: Api, alice: User, bob: Account) -> None:
    assert act(api, bob, "follow") | {"note": ""} == {
        "id": str(bob.id),
        "following": True,
        "showing_reblogs": True,
        "notifying": False,
        "languages": None,
        "followed_by": False,
        "blocking": False,
        "blocked_by": False,
        "muting": False,
        "muting_notifications": False,
        "muting_expires_at": None,
        "requested": False,
        "requested_by": False,
        "domain_blocking": False,
        "endorsed": False,
        "note": "",
    }
    assert AccountStat.objects.get(account=bob).followers_count == 1
    assert AccountStat.objects.get(account=alice.account).following_count == 1


def test_following_twice_succeeds_and_changes_the_options(api: Api, bob: Account) -> None:
    act(api, bob, "follow")
    again = act(api, bob, "follow", {"reblogs": False, "notify": True, "languages": ["de"]})
    assert (again["showing_reblogs"], again["notifying"], again["languages"]) == (False, True, ["de"])
    kept = act(api, bob, "follow")
    assert (kept["showing_reblogs"], kept["notifying"], kept["languages"]) == (False, True, ["de"])
    assert act(api, bob, "follow", {"languages": []})["languages"] == []
    assert AccountStat.objects.get(account=bob).followers_count == 1


def test_following_a_locked_account_creates_a_request(api: Api) -> None:
    locked = make_account("carol", locked=True)
    answer = act(api, locked, "follow")
    assert (answer["following"], answer["requested"]) == (False, True)
    assert act(api, locked, "follow")["requested"] is True
    assert act(api, locked, "unfollow")["requested"] is False
    assert not FollowRequest.objects.exists()


def test_an_unlocked_remote_account_is_shown_as_followed_immediately(api: Api) -> None:
    remote = make_remote()
    answer = act(api, remote, "follow")
    assert (answer["following"], answer["requested"]) == (True, False)
    assert FollowRequest.objects.filter(target=remote).exists()


def test_following_ones_own_account_is_forbidden(api: Api, alice: User) -> None:
    answer = api.post(f"/api/v1/accounts/{alice.account_id}/follow")
    assert answer.status_code == 403
    assert answer.json() == {"error": "Following your own account is not allowed"}


def test_a_block_ends_the_follows_both_ways_and_forbids_new_ones(api: Api, alice: User, bob: Account) -> None:
    other = Api(make_token(User.objects.get(account=bob)))
    act(api, bob, "follow")
    act(other, alice.account, "follow")
    blocked = act(api, bob, "block")
    assert (blocked["blocking"], blocked["following"], blocked["followed_by"]) == (True, False, False)
    assert not Follow.objects.exists()
    assert AccountStat.objects.get(account=bob).followers_count == 0
    for client, target in ((api, bob), (other, alice.account)):
        refused = client.post(f"/api/v1/accounts/{target.id}/follow")
        assert refused.status_code == 403
        assert refused.json() == {"error": "This action is not allowed"}
    assert act(other, alice.account, "unfollow")["blocked_by"] is True
    assert act(api, bob, "unblock")["blocking"] is False


def test_a_suspended_account_cannot_be_followed(api: Api) -> None:
    gone = make_account("gone", suspended_at=clock.now())
    assert api.post(f"/api/v1/accounts/{gone.id}/follow").status_code == 404


def test_a_moved_account_can_neither_follow_nor_be_followed(api: Api, alice: User, bob: Account) -> None:
    gone = make_account("gone", moved_to=bob)
    assert api.post(f"/api/v1/accounts/{gone.id}/follow").status_code == 403
    Account.objects.filter(id=alice.account_id).update(moved_to=gone)
    assert api.post(f"/api/v1/accounts/{bob.id}/follow").status_code == 403
    assert not Follow.objects.exists()


def test_follows_by_a_limited_account_become_requests(api: Api, alice: User, bob: Account) -> None:
    Account.objects.filter(id=alice.account_id).update(limited_at=clock.now())
    answer = act(api, bob, "follow")
    assert (answer["following"], answer["requested"]) == (False, True)


def test_a_mute_hides_notifications_by_default(api: Api, bob: Account) -> None:
    muted = act(api, bob, "mute")
    assert (muted["muting"], muted["muting_notifications"], muted["muting_expires_at"]) == (True, True, None)
    assert act(api, bob, "mute", {"notifications": "false"})["muting_notifications"] is False
    assert act(api, bob, "unmute")["muting"] is False


def test_a_mute_with_a_duration_ends_by_itself(api: Api, bob: Account) -> None:
    assert act(api, bob, "mute", {"duration": 1})["muting_expires_at"] is not None
    time.sleep(1.1)
    answer = api.get("/api/v1/accounts/relationships", {"id[]": bob.id}).json()
    assert answer[0]["muting"] is False
    assert answer[0]["muting_expires_at"] is None


@pytest.mark.parametrize("verb", ["block", "mute"])
def test_blocking_or_muting_oneself_has_no_effect(api: Api, alice: User, verb: str) -> None:
    answer = act(api, alice.account, verb)
    assert (answer["blocking"], answer["muting"]) == (False, False)


def test_relationships_are_returned_for_every_known_requested_id(api: Api, bob: Account) -> None:
    carol = make_account("carol")
    answer = api.get(f"/api/v1/accounts/relationships?id[]={carol.id}&id[]={bob.id}&id[]=1&id[]=x")
    assert [item["id"] for item in answer.json()] == [str(carol.id), str(bob.id)]
    assert [item["id"] for item in api.get(f"/api/v1/accounts/relationships?id={bob.id}").json()] == [str(bob.id)]


@pytest.mark.parametrize("verb", ["follow", "unfollow", "block", "unblock", "mute", "unmute"])
def test_an_unknown_account_is_404(api: Api, verb: str) -> None:
    for wrong in ("1", "abc", "99999999999999999999", "-1"):
        assert api.post(f"/api/v1/accounts/{wrong}/{verb}").status_code == 404, wrong


@pytest.mark.django_db(transaction=True)
def test_ten_follows_at_once_count_once() -> None:
    token = make_token(make_user("alice"))
    bob = make_account("bob")

    def one(_number: int) -> int:
        try:
            return int(Api(token).post(f"/api/v1/accounts/{bob.id}/follow").status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        assert set(pool.map(one, range(10))) == {200}
    assert Follow.objects.count() == 1
    assert AccountStat.objects.get(account=bob).followers_count == 1
