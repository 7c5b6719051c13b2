"""Tests of reading page after page of posts that are older than the posts in a feed."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from social.kernel import redis
from social.kernel.cursors import Cursor
from tests.factories.statuses import make_reblog, make_status
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.homes import ids, posts
from timelines.services import home as service
from timelines.stores import feed

pytestmark = pytest.mark.django_db


def pages(reader: Person, *, limit: int) -> Iterator[list[int]]:
    """Yield pages from the top to the last one that has posts."""
    page = ids(reader, limit=limit)
    while page:
        yield page
        page = ids(reader, limit=limit, max_id=page[-1])


def kept(reader: Person) -> int:
    """Return how many posts are in the feed."""
    return feed.read(feed.home(reader.id), reader.id, Cursor(1)).size


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the number of posts that one query reads to the minimum that detects repeated boosts."""
    monkeypatch.setattr(service, "FIRST_PAGE_MARGIN", 10)
    monkeypatch.setattr(service, "NEXT_PAGES_MARGIN", 30)


@pytest.mark.usefixtures("_few")
def test_one_query_serves_several_pages_below_a_feed(reader: Person, author: Person) -> None:
    follow(reader, author)
    written = posts(author, 150)
    work()
    walked: list[int] = []
    statements = 0
    for number in range(15):
        with CaptureQueriesContext(connection) as queries:
            walked += ids(reader, limit=10, **({"max_id": walked[-1]} if walked else {}))
        statements += sum("FROM walk" in query["sql"] for query in queries.captured_queries)
        assert len(walked) == 10 * (number + 1)
    assert walked == written[::-1]
    # The first page reads sixty posts, of which the last forty only serve to detect repeated boosts; the third and the seventh
    # page read eighty, and the eleventh reads the rest.
    assert statements == 4


@pytest.mark.usefixtures("_few")
def test_paging_beyond_the_feed_limit_reaches_every_post_but_stores_at_most_the_extended_limit(
    reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_ITEMS", 30)
    monkeypatch.setattr(feed, "EXTENDED_ITEMS_LIMIT", 45)
    follow(reader, author)
    written = posts(author, 150)
    work()
    assert [number for page in pages(reader, limit=10) for number in page] == written[::-1]
    assert kept(reader) == 45
    new = posts(author, 3)
    work()
    assert kept(reader) == 45
    assert [number for page in pages(reader, limit=10) for number in page] == [*new[::-1], *written[::-1]]


@pytest.mark.usefixtures("_few")
def test_an_extended_feed_is_shortened_when_the_reader_returns_the_next_day(
    reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_ITEMS", 15)
    follow(reader, author)
    written = posts(author, 150)
    work()
    walked = [number for page in pages(reader, limit=10) for number in page]
    assert kept(reader) > 100
    # remove the mark of an active reader, which would last for twelve hours
    redis.client("feeds").delete(redis.key("feeds", "present", reader.id))
    assert ids(reader, limit=10) == written[:-11:-1]
    assert kept(reader) == 15
    assert [number for page in pages(reader, limit=10) for number in page] == walked == written[::-1]


@pytest.mark.usefixtures("_few")
def test_a_boost_shortly_after_its_post_is_left_out_however_the_feed_was_built(reader: Person, author: Person) -> None:
    booster = person()
    follow(reader, author)
    follow(reader, booster)
    original = make_status(author.account, "the original")
    between = posts(author, 30)
    make_reblog(booster.account, original)
    above = posts(author, 40)
    work()
    expected = [*above[::-1], *between[::-1], original.id]
    redis.client("feeds").flushdb()
    # The first page reads some of the thirty posts, but does not reach the original.
    assert [number for page in pages(reader, limit=5) for number in page] == expected
    redis.client("feeds").flushdb()
    assert ids(reader, since_id=original.id, max_id=above[0], limit=40) == between[::-1]


@pytest.mark.usefixtures("_few")
def test_changes_appear_immediately_while_a_reader_pages_on(reader: Person, author: Person) -> None:
    friend = person()
    follow(reader, author)
    follow(reader, friend)
    mixed = [make_status(one.account).id for one in [author, friend] * 60]
    work()
    left = mixed[::-1]
    walk = pages(reader, limit=10)
    for _page in range(3):
        assert next(walk) == left[:10]
        left = left[10:]
    # The feed now holds more than the next two pages.
    deleted = mixed[::2][-18]
    assert author.api.delete(f"/api/v1/statuses/{deleted}").status_code == 200
    left.remove(deleted)
    assert next(walk) == left[:10]
    assert friend.api.post(f"/api/v1/accounts/{reader.id}/block").status_code == 200
    left = [number for number in left[10:] if number in mixed[::2]]
    assert next(walk) == left[:10]
    work()
    assert [number for page in walk for number in page] == left[10:]
