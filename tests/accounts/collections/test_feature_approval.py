"""Tests that entities of accounts state who may feature the account in a collection, and whether the viewer may."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, User
from tests.factories.accounts import make_account
from tests.factories.statuses import follow, make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db

APPROVED, DENIED = "automatic", "denied"


def shown(api: Api, account: Account) -> tuple[list[str], str]:
    """Return the account's policy, which must be the same in every entity that shows the account, with and without a cache."""
    status = make_status(account, visibility="public")
    answers: list[Any] = []
    for _time in range(2):
        answers.append(api.get(f"/api/v1/accounts/{account.id}").json())
        answers.append(api.get(f"/api/v1/statuses/{status.id}").json()["account"])
        if api.token is not None:
            answers.append(api.post(f"/api/v1/statuses/{status.id}/favourite").json()["account"])
        answers += api.get(f"/api/v1/accounts/{make_follower_of(account)}/following").json()
    found = {
        (tuple(each["feature_approval"]["automatic"]), each["feature_approval"]["current_user"]) for each in answers
    }
    assert len(found) == 1, found
    ((automatic, viewer),) = found
    return list(automatic), viewer


def make_follower_of(account: Account) -> int:
    follower = make_account()
    follow(follower, account)
    return follower.id


def test_an_account_that_is_not_discoverable_can_be_featured_by_nobody(ann: User, api: Api) -> None:
    for discoverable in (None, False):
        assert shown(api, make_account(discoverable=discoverable)) == ([], DENIED)
    assert shown(api, ann.account) == ([], DENIED)


def test_a_discoverable_account_can_be_featured_by_every_signed_in_user(ann: User, api: Api) -> None:
    account = make_account(discoverable=True)
    assert shown(api, account) == (["public"], APPROVED)
    assert shown(Api(), account) == (["public"], DENIED)
    Account.objects.filter(id=ann.account_id).update(discoverable=True)
    assert shown(api, Account.objects.get(id=ann.account_id)) == (["public"], APPROVED)


def test_a_locked_account_can_be_featured_by_its_followers_and_itself(ann: User, api: Api) -> None:
    account = make_account(discoverable=True, locked=True)
    assert shown(api, account) == (["followers"], DENIED)
    follow(ann.account, account)
    assert shown(api, account) == (["followers"], APPROVED)
    assert shown(Api(), account) == (["followers"], DENIED)
    Account.objects.filter(id=ann.account_id).update(discoverable=True, locked=True)
    assert shown(api, Account.objects.get(id=ann.account_id)) == (["followers"], APPROVED)


def test_feature_approval_costs_one_query_a_page_and_only_for_locked_discoverable_accounts(ann: User, api: Api) -> None:
    target = make_account()

    def queries(**more: Any) -> int:
        for _number in range(2):
            follow(make_account(**more), target)
        path = f"/api/v1/accounts/{target.id}/followers"
        api.get(path)
        with CaptureQueriesContext(connection) as asked:
            assert api.get(path).status_code == 200
        return len(asked)

    plain = queries()
    assert queries(discoverable=True) == plain
    assert queries(discoverable=True, locked=True) == plain + 1
    assert queries(discoverable=True, locked=True) == plain + 1
