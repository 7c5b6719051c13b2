"""Follows and the locks under which they change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, transaction

from accounts.models import Follow, FollowRequest, User
from accounts.services import profiles
from accounts.services.following import FollowWish, follow_account, unfollow_account
from accounts.services.profiles import ProfileChange, update_profile
from tests.factories.accounts import make_account, make_user

pytestmark = pytest.mark.django_db(transaction=True)


def _unlock(user: User) -> None:
    try:
        update_profile(user=user, change=ProfileChange(locked=False))
    finally:
        connection.close()


def test_who_asks_while_an_account_unlocks_becomes_a_follower(monkeypatch: pytest.MonkeyPatch) -> None:
    target, early, late = make_user(locked=True), make_account(), make_account()
    follow_account(account=early, target=target.account, wish=FollowWish())
    accepted, asked = Event(), Event()
    original = profiles._accept_pending

    def accept_and_wait(account: profiles.Account) -> None:
        original(account)
        accepted.set()
        asked.wait(1)  # the one who asks should not get through before the commit: a second is all it is given

    monkeypatch.setattr(profiles, "_accept_pending", accept_and_wait)

    with ThreadPoolExecutor(1) as pool:
        unlocking = pool.submit(_unlock, target)
        assert accepted.wait(10)
        follow_account(account=late, target=target.account, wish=FollowWish())
        asked.set()
        unlocking.result(10)
    assert set(Follow.objects.values_list("account_id", flat=True)) == {early.id, late.id}
    assert not FollowRequest.objects.exists()


def test_a_request_that_is_withdrawn_while_the_account_unlocks_makes_no_follow() -> None:
    target, asking, other = make_user(locked=True), make_account(), make_account()
    for account in (other, asking):
        follow_account(account=account, target=target.account, wish=FollowWish())

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            unfollow_account(account=asking, target=target.account)
            unlocking = pool.submit(_unlock, target)
            with pytest.raises(TimeoutError):
                unlocking.result(0.5)
        unlocking.result(10)
    assert set(Follow.objects.values_list("account_id", flat=True)) == {other.id}
