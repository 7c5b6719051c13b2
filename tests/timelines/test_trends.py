"""Tests of trends: how they are selected, how long they last, and reviews by staff (contract, behaviours section 18)."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AuditEntry, Tag, TagUse
from accounts.policies.staff import OPERATOR, NotPermitted, staff_of
from accounts.services.audit import write_setting
from accounts.services.blocking import block_account
from moderation.policies.documents import SiteTexts
from moderation.services.documents import change_site
from social.kernel import clock
from social.kernel.errors import NotFound
from statuses.models import PreviewCard, Status, StatusCard, StatusStat
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_remote_status
from tests.support.client import Api
from tests.timelines.conftest import Person
from timelines.models import LinkPublisher, Trend, TrendKind, TrendReview
from timelines.queries.trends import TRENDS_SETTING, list_trending
from timelines.services.trends import compute_tags, compute_trends, forget_reviews, review_publisher, review_trend

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
PATH = "/api/v1/trends"


def used(name: str, people: list[Account], *, days_ago: int = 0) -> Tag:
    """Create a hashtag that these accounts used once."""
    tag, _made = Tag.objects.get_or_create(name=name, defaults={"display_name": name})
    day = clock.now().date() - timedelta(days=days_ago)
    TagUse.objects.bulk_create([TagUse(tag=tag, day=day, account=one) for one in people], batch_size=100)
    return tag


def liked(author: Account, likes: int, **values: Any) -> Status:
    post = make_remote_status(author, "<p>hello</p>", **values)
    StatusStat.objects.update_or_create(status=post, defaults={"favourites_count": likes})
    return post


def linked(people: list[Account], url: str) -> PreviewCard:
    card = PreviewCard.objects.create(url=url, host="site.example", title="Page", fetched_at=clock.now())
    for one in people:
        StatusCard.objects.create(status=make_remote_status(one), card=card, url=url)
    return card


def crowd(size: int, **values: Any) -> list[Account]:
    return [make_remote(discoverable=True, **values) for _ in range(size)]


def shown(api: Api, kind: str, **params: Any) -> list[str]:
    answer = api.get(f"{PATH}/{kind}", params)
    assert answer.status_code == 200
    return [one.get("id") or one["url"] for one in answer.json()]


def test_a_hashtag_used_by_many_trends_after_approval_and_fades(reader: Person) -> None:
    people = crowd(6)
    rising, usual, rare = used("rising", people), used("usual", people), used("rare", people[:4])
    used("usual", people, days_ago=1)
    used("limited", crowd(6, limited_at=clock.now()))
    compute_trends()
    assert [(one.object_id, one.allowed) for one in list_trending(TrendKind.TAG)] == [(rising.id, None)]
    rising.refresh_from_db()
    assert rising.requested_review_at is not None
    assert shown(Api(), "tags") == []
    review_trend(by=OPERATOR, kind=TrendKind.TAG, object_id=rising.id, trendable=True)
    assert shown(Api(), "tags") == shown(reader.api, "tags") == [str(rising.id)]
    old = Api().get(PATH)
    assert (old.json()[0]["name"], old.headers["Deprecation"]) == ("rising", "@1648598400")
    write_setting(TRENDS_SETTING, False)
    assert shown(Api(), "tags") == []
    write_setting(TRENDS_SETTING, True)
    before = Trend.objects.get(object_id=rising.id)
    compute_tags(before.peak_at + timedelta(hours=4))
    assert Trend.objects.get(object_id=rising.id).score == pytest.approx(before.score / 2)
    compute_tags(before.peak_at + timedelta(hours=40))
    assert not Trend.objects.exists()
    assert usual.id != rare.id
    review_trend(by=OPERATOR, kind=TrendKind.TAG, object_id=rising.id, trendable=False)
    assert AuditEntry.objects.filter(target_id=rising.id).count() == 2


def test_a_server_can_show_unreviewed_trends_until_staff_reject_them() -> None:
    author, other = crowd(2)
    first, second = liked(author, 30), liked(other, 10)
    rising = used("rising", crowd(6))
    compute_trends()
    assert (shown(Api(), "statuses"), shown(Api(), "tags")) == ([], []), "by default unreviewed trends are hidden"
    change_site(by=OPERATOR, texts=SiteTexts(site_trends_without_review=True))
    assert shown(Api(), "statuses") == [str(first.id), str(second.id)]
    assert shown(Api(), "tags") == [str(rising.id)]
    review_trend(by=OPERATOR, kind=TrendKind.AUTHOR, object_id=author.id, trendable=False)
    review_trend(by=OPERATOR, kind=TrendKind.TAG, object_id=rising.id, trendable=False)
    assert (shown(Api(), "statuses"), shown(Api(), "tags")) == ([str(second.id)], [])
    write_setting(TRENDS_SETTING, False)
    assert shown(Api(), "statuses") == []


def test_posts_with_many_favourites_trend_unless_a_rule_excludes_them(reader: Person) -> None:
    author, other = crowd(2)
    first, second = liked(author, 30), liked(other, 10)
    liked(author, 4)
    liked(author, 30, sensitive=True)
    liked(author, 30, spoiler_text="careful")
    liked(author, 30, visibility="unlisted")
    liked(author, 30, in_reply_to_uri="https://elsewhere.example/1")
    liked(author, 30, created_at=clock.now() - timedelta(days=3))
    liked(make_remote(discoverable=False), 30)
    compute_trends()
    assert [one.object_id for one in list_trending(TrendKind.STATUS)] == [first.id, second.id]
    assert shown(Api(), "statuses") == []
    review_trend(by=OPERATOR, kind=TrendKind.AUTHOR, object_id=author.id, trendable=True)
    assert shown(Api(), "statuses") == [str(first.id)]
    review_trend(by=OPERATOR, kind=TrendKind.STATUS, object_id=second.id, trendable=True)
    assert shown(reader.api, "statuses") == [str(first.id), str(second.id)]
    assert shown(reader.api, "statuses", limit=1, offset=1) == [str(second.id)]
    block_account(account=reader.account, target=author)
    assert shown(reader.api, "statuses") == [str(second.id)]
    review_trend(by=OPERATOR, kind=TrendKind.STATUS, object_id=second.id, trendable=False)
    assert shown(Api(), "statuses") == [str(first.id)]
    with pytest.raises(NotPermitted):
        review_trend(by=staff_of(reader.user), kind=TrendKind.STATUS, object_id=first.id, trendable=True)
    with pytest.raises(NotFound):
        review_trend(by=OPERATOR, kind=TrendKind.STATUS, object_id=1, trendable=True)


def test_links_trend_after_approval_of_the_page_or_publisher_with_their_history(reader: Person) -> None:
    people = crowd(6)
    card = linked(people, "https://site.example/news")
    linked(people[:3], "https://site.example/rare")
    compute_trends()
    assert [(one.object_id, one.allowed) for one in list_trending(TrendKind.LINK)] == [(card.id, None)]
    publisher = LinkPublisher.objects.get()
    assert (publisher.domain, publisher.trendable) == ("site.example", None)
    assert shown(Api(), "links") == []
    review_publisher(by=OPERATOR, publisher_id=publisher.id, trendable=True)
    found = reader.api.get(f"{PATH}/links").json()[0]
    assert (found["url"], found["history"][0]["accounts"], found["history"][0]["uses"]) == (card.url, "6", "6")
    assert len(found["history"]) == 7
    review_trend(by=OPERATOR, kind=TrendKind.LINK, object_id=card.id, trendable=False)
    assert shown(Api(), "links") == []
    with pytest.raises(NotFound):
        review_publisher(by=OPERATOR, publisher_id=1, trendable=True)


@pytest.mark.parametrize("kind", ["tags", "statuses", "links"])
def test_pages_have_links_with_offsets_even_when_empty(kind: str) -> None:
    def links(path: str, **params: Any) -> str:
        link: str = Api().get(path, params).headers.get("Link", "")
        return link.replace("http://social.localhost", "")

    path = f"{PATH}/{kind}"
    assert links(path) == links(path, limit=5, offset=5) == ""
    assert links(path, limit=5, offset=11) == f'<{path}?limit=5&offset=6>; rel="prev"'
    assert links(path, limit=0) == f'<{path}?limit=0&offset=0>; rel="next"'
    assert links(PATH, limit=5, offset=11) == f'<{PATH}/tags?limit=5&offset=6>; rel="prev"'
    assert Api().get(f"{PATH}/nonsense").status_code == 404


def test_computing_trends_takes_a_fixed_number_of_queries() -> None:
    def cost(size: int) -> int:
        people = crowd(6)
        for number in range(size):
            used(f"tag{size}x{number}", people)
            liked(people[number], 10)
        with CaptureQueriesContext(connection) as queries:
            compute_trends()
        return len(queries)

    assert cost(1) == cost(5)
    assert not TrendReview.objects.exists()


def test_reviews_of_deleted_objects_are_deleted() -> None:
    people = crowd(3)
    posts, cards = [liked(people[0], 5), liked(people[0], 5)], [linked(people, f"https://s.example/{n}") for n in "ab"]
    for post in posts:
        review_trend(by=OPERATOR, kind=TrendKind.STATUS, object_id=post.id, trendable=True)
    for card in cards:
        review_trend(by=OPERATOR, kind=TrendKind.LINK, object_id=card.id, trendable=False)
    for author in people[1:]:
        review_trend(by=OPERATOR, kind=TrendKind.AUTHOR, object_id=author.id, trendable=True)
    TrendReview.objects.create(kind=TrendKind.AUTHOR, object_id=7, trendable=True)
    StatusStat.objects.filter(status=posts[0]).delete()
    posts[0].delete()
    StatusCard.objects.filter(card=cards[0]).delete()
    cards[0].delete()
    assert [forget_reviews(batch=2), forget_reviews(batch=2), forget_reviews()] == [2, 1, 0]
    left = set(TrendReview.objects.values_list("kind", "object_id"))
    assert left == {("status", posts[1].id), ("link", cards[1].id), *(("author", one.id) for one in people[1:])}
