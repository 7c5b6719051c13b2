"""Tests of follows, and of the locks that let only one request at a time change the follows between two accounts."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, transaction

from accounts.models import AccountStat, Follow, FollowRequest, User
from accounts.policies.relations import FOLLOW_LIMIT
from accounts.services import follow_requests, profiles
from accounts.services.following import FollowChange, follow_account, pair_name, unfollow_account
from accounts.services.profiles import ProfileChange, update_profile
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.locks import lock
from tests.factories.accounts import make_account, make_many_remote, make_user
from tests.support.work import work

pytestmark = pytest.mark.django_db(transaction=True)


def _unlock(user: User) -> None:
    try:
        update_profile(user=user, change=ProfileChange(locked=False))
    finally:
        connection.close()


def test_a_follow_request_made_while_the_account_unlocks_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    target, early, late = make_user(locked=True), make_account(), make_account()
    follow_account(account=early, target=target.account, change=FollowChange())
    accepted, asked = Event(), Event()
    original = profiles.accept_waiting

    def accept_and_wait(account_id: int) -> None:
        original(account_id)
        accepted.set()
        asked.wait(1)  # the other request cannot continue before the commit, so one second of waiting is enough

    monkeypatch.setattr(profiles, "accept_waiting", accept_and_wait)

    with ThreadPoolExecutor(1) as pool:
        unlocking = pool.submit(_unlock, target)
        assert accepted.wait(10)
        follow_account(account=late, target=target.account, change=FollowChange())
        asked.set()
        unlocking.result(10)
    assert set(Follow.objects.values_list("account_id", flat=True)) == {early.id, late.id}
    assert not FollowRequest.objects.exists()


def test_a_request_withdrawn_while_the_account_unlocks_creates_no_follow() -> None:
    target, asking, other = make_user(locked=True), make_account(), make_account()
    for account in (other, asking):
        follow_account(account=account, target=target.account, change=FollowChange())

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            unfollow_account(account=asking, target=target.account)
            unlocking = pool.submit(_unlock, target)
            with pytest.raises(TimeoutError):
                unlocking.result(0.5)
        unlocking.result(10)
    assert set(Follow.objects.values_list("account_id", flat=True)) == {other.id}


def test_unlocking_leaves_requests_of_limited_accounts_pending() -> None:
    target, asking, limited = make_user(locked=True), make_account(), make_account(limited_at=clock.now())
    for account in (asking, limited):
        follow_account(account=account, target=target.account, change=FollowChange())
    update_profile(user=target, change=ProfileChange(locked=False))
    work()
    assert set(Follow.objects.values_list("account_id", flat=True)) == {asking.id}
    assert set(FollowRequest.objects.values_list("account_id", flat=True)) == {limited.id}


def test_two_simultaneous_calls_create_one_follow_and_count_it_once() -> None:
    account, target = make_account(), make_account()

    def follow() -> None:
        try:
            follow_account(account=account, target=target, change=FollowChange())
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            # Both calls need the lock of this pair, so neither continues while this transaction holds it.
            lock(pair_name(account.id, target.id))
            calls = [pool.submit(follow) for _call in range(2)]
            with pytest.raises(TimeoutError):
                calls[0].result(0.5)
            assert not Follow.objects.exists()
        for call in calls:
            call.result(10)
    assert Follow.objects.count() == 1
    assert AccountStat.objects.get(account=target).followers_count == 1


def test_an_account_may_follow_7500_accounts_or_a_tenth_more_than_its_followers() -> None:
    account, target = make_account(), make_account()
    AccountStat.objects.create(account=account)
    stat = AccountStat.objects.filter(account=account)
    for following, followers in ((FOLLOW_LIMIT, 0), (11_000, 10_000)):
        stat.update(following_count=following, followers_count=followers)
        with pytest.raises(Invalid, match="more than"):
            follow_account(account=account, target=target, change=FollowChange())
    assert not Follow.objects.exists()
    stat.update(following_count=10_999)
    follow_account(account=account, target=target, change=FollowChange())
    assert Follow.objects.count() == 1


def test_many_requests_are_all_accepted_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_requests, "BATCH_SIZE", 3)
    target = make_user(locked=True)
    asking = [make_account() for _number in range(8)]
    for account in asking:
        follow_account(account=account, target=target.account, change=FollowChange())
    update_profile(user=target, change=ProfileChange(locked=False))
    assert Follow.objects.count() == 3
    work()
    assert set(Follow.objects.values_list("account_id", flat=True)) == {account.id for account in asking}
    assert AccountStat.objects.get(account=target.account).followers_count == 8


def test_an_account_that_is_locked_again_meanwhile_keeps_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_requests, "BATCH_SIZE", 2)
    target = make_user(locked=True)
    for _number in range(3):
        follow_account(account=make_account(), target=target.account, change=FollowChange())
    update_profile(user=target, change=ProfileChange(locked=False))
    update_profile(user=target, change=ProfileChange(locked=True))
    work()
    assert (Follow.objects.count(), FollowRequest.objects.count()) == (2, 1)


@pytest.mark.verify
@pytest.mark.timeout(600)
def test_an_account_with_20000_requests_can_be_unlocked() -> None:
    target = make_user(locked=True)
    requests = (FollowRequest(account=account, target=target.account) for account in make_many_remote(20_000))
    FollowRequest.objects.bulk_create(requests, batch_size=1000)
    update_profile(user=target, change=ProfileChange(locked=False))
    work(rounds=1000)
    assert Follow.objects.count() == 20_000
    assert not FollowRequest.objects.exists()
