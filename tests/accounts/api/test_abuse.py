"""Tests of actions on accounts in unusual cases: blocks, deleted accounts, the user's own account, simultaneous requests."""

import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.urls import get_resolver

from accounts.models import Account, AccountStat, Endorsement, Follow, FollowRequest
from accounts.services.blocking import block_account
from accounts.services.erasing import delete_user
from social.api.routing import endpoints
from social.kernel import clock
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db

ACTS = ["follow", "unfollow", "block", "unblock", "mute", "unmute", "endorse", "unendorse", "pin", "unpin", "note"]
ACTS += ["remove_from_followers"]
#: Status codes of actions that are refused; actions that undo something are always allowed.
FORBIDDEN = {"follow": 403, "endorse": 422, "pin": 422}
GONE = {"follow": 404}


def act(api: Api, account_id: int, verb: str) -> Any:
    return api.post(f"/api/v1/accounts/{account_id}/{verb}", {"comment": "a note"} if verb == "note" else None)


@pytest.fixture
def me() -> Account:
    return make_account("me")


@pytest.fixture
def api(me: Account) -> Api:
    return Api(make_token(me.user))


def related() -> int:
    return Follow.objects.count() + FollowRequest.objects.count() + Endorsement.objects.count()


@pytest.mark.parametrize("verb", ACTS)
@pytest.mark.parametrize("blocker", ["me", "them"])
def test_after_a_block_relations_can_be_ended_but_not_created(api: Api, me: Account, verb: str, blocker: str) -> None:
    them = make_account()
    one, other = (me, them) if blocker == "me" else (them, me)
    block_account(account=one, target=other)
    for _again in range(2):
        assert act(api, them.id, verb).status_code == FORBIDDEN.get(verb, 200)
    assert related() == 0


@pytest.mark.parametrize("verb", ACTS)
@pytest.mark.parametrize("far", [False, True])
def test_every_action_on_a_suspended_account_succeeds_except_following_it(
    api: Api, me: Account, verb: str, far: bool
) -> None:
    them = (make_remote if far else make_account)(suspended_at=clock.now())
    Follow.objects.create(account=me, target=them)
    Follow.objects.create(account=them, target=me)
    for _again in range(2):
        assert act(api, them.id, verb).status_code == GONE.get(verb, 200)
    assert Follow.objects.filter(account=me).exists() is (verb not in ("unfollow", "block"))


@pytest.mark.parametrize("verb", ACTS)
def test_nobody_can_follow_block_mute_or_endorse_themselves(api: Api, me: Account, verb: str) -> None:
    answer = act(api, me.id, verb)
    assert answer.status_code == FORBIDDEN.get(verb, 200)
    if answer.status_code == 200:
        shown = answer.json()
        assert not any(shown[name] for name in ("following", "blocking", "muting", "endorsed", "requested"))
    assert related() == 0


@pytest.mark.parametrize("verb", ACTS)
def test_acting_on_an_unconfirmed_deleted_or_invalid_account_is_not_found(api: Api, verb: str) -> None:
    waiting = make_user(confirmed=False)
    gone = make_user()
    delete_user(user=gone)
    for account_id in (waiting.account_id, 1, "x" * 5000, "1" * 5000):
        assert act(api, account_id, verb).status_code == 404
    assert act(api, gone.account_id, verb).status_code < 500
    assert related() == 0


def reading(pattern: str) -> bool:
    return "<id>" in pattern and pattern.startswith("api/v1/accounts/")


PAGES = sorted(
    pattern.path
    for pattern in endpoints(get_resolver().url_patterns)
    if "get" in pattern.actions and reading(pattern.path)
)


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("state", ["suspended", "blocking", "blocked", "oneself", "unknown", "waiting"])
def test_lists_of_an_account_in_any_state_cause_no_server_error(api: Api, me: Account, path: str, state: str) -> None:
    them = make_account()
    if state == "suspended":
        Account.objects.filter(id=them.id).update(suspended_at=clock.now())
    elif state in ("blocking", "blocked"):
        one, other = (me, them) if state == "blocked" else (them, me)
        block_account(account=one, target=other)
    account_id = {"oneself": me.id, "unknown": 1}.get(state, them.id)
    if state == "waiting":
        account_id = make_user(confirmed=False).account_id
    missing = state in ("unknown", "waiting")
    for reader in (api, Api()):
        answer = reader.get(f"/{path.replace('<id>', str(account_id))}")
        assert answer.status_code in ((404, 401, 422) if missing else (200, 401, 403, 404, 422)), answer.content


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("note", {"comment": "x" * 2001}),
        ("note", {"comment": ["a", "list"]}),
        ("mute", {"duration": "9" * 400}),
        ("mute", {"duration": "abc"}),
        ("mute", {"notifications": "x" * 5000}),
        ("follow", {"languages[]": ["x" * 5000]}),
        ("follow", {"languages[]": ["de"] * 5000}),
        ("follow", {"languages": {"a": "b"}}),
        ("follow", {"notify": "x" * 5000, "reblogs": []}),
    ],
)
def test_long_and_malformed_values_cause_no_server_error(api: Api, path: str, sent: dict[str, Any]) -> None:
    them = make_account()
    answer = api.post(f"/api/v1/accounts/{them.id}/{path}", sent)
    assert answer.status_code in (200, 400, 422), answer.content
    if answer.status_code == 422:
        assert isinstance(answer.json()["error"], str)


@pytest.mark.django_db(transaction=True)
def test_fifty_simultaneous_requests_leave_the_counters_exact() -> None:
    target = make_account("target")
    people = [make_user(f"person{number}") for number in range(5)]
    tokens = [make_token(person) for person in people]
    order = random.Random(7)
    calls = [(token, verb) for token in tokens for verb in ("follow", "unfollow") * 5]
    order.shuffle(calls)

    def call(one: tuple[str, str]) -> int:
        try:
            return int(act(Api(one[0]), target.id, one[1]).status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        assert set(pool.map(call, calls)) == {200}
    following = {person.account_id: Follow.objects.filter(account=person.account).count() for person in people}
    assert AccountStat.objects.get(account=target).followers_count == sum(following.values())
    for account_id, count in following.items():
        assert AccountStat.objects.get(account_id=account_id).following_count == count
    # Unfollow with every token in turn, so that no follow remains.
    for token in tokens:
        assert act(Api(token), target.id, "unfollow").status_code == 200
    assert AccountStat.objects.get(account=target).followers_count == 0
    assert set(AccountStat.objects.values_list("following_count", flat=True)) == {0}
