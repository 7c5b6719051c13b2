"""Tests that changing many owners' counters in one call has the same result as changing them one by one."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import AccountStat
from accounts.services.changing import bump
from tests.factories.accounts import make_many_remote

pytestmark = pytest.mark.django_db


def test_many_counters_change_in_one_statement_and_never_fall_below_zero() -> None:
    ids = [account.id for account in make_many_remote(6)]
    AccountStat.objects.bulk_create(
        [AccountStat(account_id=number, followers_count=2, following_count=5, statuses_count=9) for number in ids[:3]]
    )
    AccountStat.objects.filter(account_id=ids[1]).update(followers_total=80, following_total=50)
    with CaptureQueriesContext(connection) as caught:
        bump(
            {
                (ids[4], "following_count"): -1,
                (ids[0], "followers_count"): 1,
                (ids[1], "followers_count"): -3,
                (ids[1], "following_count"): 2,
                (ids[2], "following_count"): -2,
                (ids[3], "followers_count"): 4,
            }
        )
    assert len(caught) == 1
    columns = ("followers_count", "following_count", "statuses_count")
    found = {row[0]: row[1:] for row in AccountStat.objects.values_list("account_id", *columns)}
    assert found == {
        ids[0]: (3, 5, 9),
        ids[1]: (0, 7, 9),
        ids[2]: (2, 3, 9),
        ids[3]: (4, 0, 0),
        ids[4]: (0, 0, 0),
    }
    said = AccountStat.objects.values_list("followers_total", "following_total")
    assert said.get(account_id=ids[1]) == (77, 52), "the number that another server reported changes too"
    assert said.get(account_id=ids[0]) == (None, None)
