"""Tests of the explore page: trends and discoverable accounts, limited to public content."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import AccountStat, Tag
from accounts.services.audit import write_setting
from accounts.services.changing import change_account
from social.kernel import clock
from statuses.models import Status
from tests.factories.accounts import make_account
from tests.factories.statuses import make_status
from timelines.models import Trend, TrendKind, TrendReview

pytestmark = pytest.mark.django_db
PATHS = ("/explore", "/explore/tags", "/explore/links", "/explore/people")


def trend(kind: TrendKind, number: int) -> None:
    Trend.objects.create(kind=kind, object_id=number, score=1, peak=1, peak_at=clock.now())


def shows(path: str, word: str) -> bool:
    answer = Client().get(path)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "public, max-age=15"), path
    return word in answer.content.decode().partition("</head>")[2]


def test_trends_are_shown_after_approval_by_staff_and_not_when_they_are_switched_off() -> None:
    status = make_status(make_account("anna"), "a fine #garden")
    trend(TrendKind.STATUS, status.id)
    tag = Tag.objects.get(name="garden")
    trend(TrendKind.TAG, tag.id)
    assert not shows("/explore", "a fine")
    TrendReview.objects.create(kind=TrendKind.STATUS, object_id=status.id, trendable=True, reviewed_at=clock.now())
    Tag.objects.update(trendable=True)
    assert shows("/explore", "a fine")
    assert shows("/explore/tags", 'href="/tags/garden"')
    for values in ({"visibility": "private"}, {"deleted_at": clock.now()}):
        Status.objects.update(**values)
        assert not shows("/explore", "a fine"), values
        Status.objects.update(visibility="public", deleted_at=None)
    change_account(status.account_id, limited_at=clock.now())
    assert not shows("/explore", "a fine")
    change_account(status.account_id, limited_at=None)
    write_setting("trends", False)
    assert not shows("/explore", "a fine")
    assert not shows("/explore/tags", 'href="/tags/garden"')


def test_only_discoverable_accounts_are_shown() -> None:
    for name, discoverable in (("berta", True), ("clara", None), ("dora", False)):
        account = make_account(name, discoverable=discoverable, note_html="<p>I <b>bake</b></p>")
        AccountStat.objects.update_or_create(account=account, defaults={"statuses_count": 1})
    assert [shows("/explore/people", f"@{name}@") for name in ("berta", "clara", "dora")] == [True, False, False]
    assert shows("/explore/people", "I bake")


def test_each_page_takes_a_fixed_number_of_queries(django_assert_max_num_queries: Any) -> None:
    for number in range(6):
        account = make_account(discoverable=True)
        AccountStat.objects.update_or_create(account=account, defaults={"statuses_count": 1})
        status = make_status(account, f"#tag{number}x")
        trend(TrendKind.STATUS, status.id)
        TrendReview.objects.create(kind=TrendKind.STATUS, object_id=status.id, trendable=True, reviewed_at=clock.now())
        trend(TrendKind.TAG, Tag.objects.get(name=f"tag{number}x").id)
    Tag.objects.update(trendable=True)
    for path in PATHS:
        with django_assert_max_num_queries(10):
            assert Client().get(path).status_code == 200
    assert Client().get("/explore/nothing").status_code == 404
