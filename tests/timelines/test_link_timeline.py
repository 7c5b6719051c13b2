"""Tests of GET /api/v1/timelines/link: public posts with a trending link (contract, behaviours section 11)."""

from typing import Any

import pytest

from accounts.models import Account
from accounts.services.blocking import block_account
from social.kernel import clock
from statuses.models import PreviewCard, StatusCard
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_remote_status
from tests.support.client import Api
from tests.timelines.conftest import Person
from timelines.models import Trend, TrendKind, TrendReview

pytestmark = pytest.mark.django_db
PATH = "/api/v1/timelines/link"
URL = "https://site.example/news"


@pytest.fixture
def card() -> PreviewCard:
    card = PreviewCard.objects.create(url=URL, host="site.example", title="News", fetched_at=clock.now())
    Trend.objects.create(kind=TrendKind.LINK, object_id=card.id, score=5)
    TrendReview.objects.create(kind=TrendKind.LINK, object_id=card.id, trendable=True)
    return card


def post(card: PreviewCard, author: Account, **values: Any) -> int:
    status = make_remote_status(author, **values)
    StatusCard.objects.create(status=status, card=card, url=URL)
    return status.id


def ids(api: Api, **params: Any) -> list[int]:
    answer = api.get(PATH, {"url": URL, **params})
    assert answer.status_code == 200, answer.content
    return [int(each["id"]) for each in answer.json()]


def test_public_posts_of_discoverable_accounts_are_shown(card: PreviewCard, reader: Person) -> None:
    people = [make_remote(discoverable=True) for _ in range(3)]
    written = [post(card, author) for author in people]
    post(card, people[0], visibility="unlisted")
    for limits in ({"discoverable": False}, {"discoverable": True, "limited_at": clock.now()}):
        post(card, make_remote(**limits))
    assert ids(Api()) == ids(reader.api) == written[::-1]
    assert ids(Api(), limit=1) == written[2:]
    assert ids(Api(), max_id=written[1]) == written[:1]
    assert ids(Api(), min_id=written[0], limit=1) == [written[1]]
    block_account(account=reader.account, target=people[0])
    assert ids(reader.api) == [written[2], written[1]]


def test_a_link_that_does_not_trend_or_is_not_approved_is_not_found(card: PreviewCard) -> None:
    other = PreviewCard.objects.create(url="https://site.example/rare", title="Rare", fetched_at=clock.now())
    for sent in ({}, {"url": ""}, {"url": other.url}, {"url": "nonsense"}, {"url": ["x"]}):
        answer = Api().get(PATH, sent)
        assert (answer.status_code, answer.json()) == (404, {"error": "Record not found"})
    TrendReview.objects.update(trendable=False)
    assert Api().get(PATH, {"url": URL}).status_code == 404
