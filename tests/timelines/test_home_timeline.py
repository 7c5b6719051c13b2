"""Tests of GET /api/v1/timelines/home: complete, in order, without duplicates, whatever happens to Redis."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from accounts.services.blocking import block_account
from accounts.services.following import unfollow_account
from social.kernel import clock, redis
from social.kernel.cursors import Cursor
from statuses.models import Status
from tests.factories import statuses as factory
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_favourite, make_media, make_reblog, make_remote_status, make_status
from tests.timelines.conftest import Person, follow, person, work
from tests.timelines.homes import HOME, cached, ids, posts
from timelines.queries import feed_pages
from timelines.services import home as home_service
from timelines.services.presence import note_absent_people
from timelines.stores import feed

pytestmark = pytest.mark.django_db


def walk(person: Person, rel: str, url: str) -> list[int]:
    """Return all posts of the page and of the pages that its Link header leads to."""
    found: list[int] = []
    for _ in range(100):
        response = person.api.get(url)
        page = [int(status["id"]) for status in response.json()]
        found += page if rel == "next" else page[::-1]
        link = re.search(rf'<([^>]+)>; rel="{rel}"', response.headers.get("Link", ""))
        if not page or link is None:
            return found
        url = link[1].split("localhost", 1)[1]
    raise AssertionError("the links to further pages have no end")


def test_links_keep_only_the_parameters_of_the_endpoint(reader: Person, author: Person) -> None:
    follow(reader, author)
    posts(author, 2)
    work()
    link = reader.api.get("/api/v1/timelines/home?limit=1&local=true&other=1").headers["Link"]
    assert link.count("limit=1&local=true&") == 2
    assert "other" not in link


def test_the_home_timeline_is_complete_and_in_order_after_redis_lost_its_data(reader: Person, author: Person) -> None:
    follow(reader, author)
    assert ids(reader) == []
    first = posts(author, 3)
    work()
    expected = first[::-1]
    assert ids(reader) == expected
    assert cached(reader) == expected, "served from the feed"
    redis.client("feeds").flushall()
    assert ids(reader) == expected
    more = posts(author, 2)
    work()
    assert ids(reader) == [*more[::-1], *expected]
    assert cached(reader) == [*more[::-1], *expected], "the feed was rebuilt"


def test_the_home_timeline_is_complete_without_redis(reader: Person, author: Person, settings: Any) -> None:
    follow(reader, author)
    written = posts(author, 3)
    settings.REDIS_URLS = {**settings.REDIS_URLS, "feeds": "redis://127.0.0.1:1/0"}
    assert ids(reader) == written[::-1]


def test_every_page_with_posts_has_both_links(reader: Person, author: Person) -> None:
    follow(reader, author)
    assert "Link" not in reader.api.get(HOME).headers
    written = posts(author, 3)
    work()
    link = reader.api.get(HOME, {"limit": 40}).headers["Link"]
    newest, oldest = written[-1], written[0]
    page = rf"http://\S+{HOME}\?limit=40"
    assert re.fullmatch(rf'<{page}&max_id={oldest}>; rel="next", <{page}&min_id={newest}>; rel="prev"', link)


@pytest.mark.parametrize("prepared", ["cold", "warm", "half"])
def test_following_the_links_shows_every_post_once(reader: Person, author: Person, prepared: str) -> None:
    follow(reader, author)
    if prepared == "warm":
        ids(reader)
    written = posts(author, 130)
    if prepared == "half":
        ids(reader, limit=5)
    work()
    assert walk(reader, "next", f"{HOME}?limit=20") == written[::-1]
    assert walk(reader, "prev", f"{HOME}?limit=20&min_id={written[0]}") == written[1:], (
        "as the client Ivory pages (trap 12)"
    )
    redis.client("feeds").flushall()
    assert walk(reader, "prev", f"{HOME}?limit=40&min_id=1") == written


def test_min_id_since_id_and_max_id_select_the_right_end(reader: Person, author: Person) -> None:
    follow(reader, author)
    written = posts(author, 10)
    work()
    for _state in ("cold", "warm"):
        assert ids(reader, min_id=written[0], limit=2) == [written[2], written[1]]  # SEED-123
        assert ids(reader, since_id=written[0], limit=2) == [written[9], written[8]]
        assert ids(reader, max_id=written[5], limit=2) == [written[4], written[3]]
        assert ids(reader, max_id=written[5], min_id=written[1], limit=2) == [written[3], written[2]]
        assert ids(reader, max_id=written[5], since_id=written[2]) == [written[4], written[3]]
        assert ids(reader, limit=0) == []
        assert ids(reader, max_id=10**30) == written[::-1]
        ids(reader)


def test_a_page_that_ends_below_the_feed_is_full_and_extends_the_feed(reader: Person, author: Person) -> None:
    follow(reader, author)
    written = posts(author, 60)
    work()
    mark = feed.begin(feed.home(reader.id))
    feed.finish(feed.home(reader.id), mark, [feed.FeedItem(i) for i in written[-10:]], complete=False)
    assert ids(reader, limit=30) == written[:29:-1]
    assert cached(reader) == written[::-1]
    assert feed.read(feed.home(reader.id), reader.id, Cursor(2000)).complete, (
        "the feed now contains all posts down to the first one"
    )


def test_a_post_is_never_lost_between_reading_and_storing_a_feed(
    reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(reader, author)
    written = posts(author, 2)
    work()
    redis.client("feeds").flushall()

    def read_then_somebody_posts(*args: Any, **options: Any) -> feed_pages.FeedPage:
        found = feed_pages.find_page(*args, **options)
        written.append(make_status(author.account, "in between").id)
        work()
        return found

    monkeypatch.setattr(home_service, "find_page", read_then_somebody_posts)
    ids(reader)
    assert cached(reader) == written[::-1]


def test_outdated_posts_are_not_stored_after_a_block_during_the_build_of_a_feed(
    reader: Person, author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(reader, author)
    posts(author, 2)
    work()
    redis.client("feeds").flushall()

    def read_then_block(*args: Any, **options: Any) -> feed_pages.FeedPage:
        found = feed_pages.find_page(*args, **options)
        block_account(account=reader.account, target=author.account)
        work()
        return found

    monkeypatch.setattr(home_service, "find_page", read_then_block)
    assert ids(reader) == []
    assert feed.read(feed.home(reader.id), reader.id, Cursor(1)).lowest is None


def test_a_boost_of_a_recently_shown_post_is_left_out(reader: Person, author: Person) -> None:
    booster, second = person(), person()
    for other in (author, booster, second):
        follow(reader, other)
    ids(reader)
    status = make_status(author.account)
    make_reblog(booster.account, status)
    make_reblog(second.account, status)
    work()
    assert ids(reader) == [status.id]
    redis.client("feeds").flushall()
    assert ids(reader) == [status.id], "SQL follows the same rule"


def test_a_follow_adds_recent_posts_and_an_unfollow_removes_them(reader: Person, author: Person) -> None:
    mine = posts(reader, 1)
    theirs = posts(author, 5)
    work()
    assert ids(reader) == mine
    follow(reader, author)
    assert ids(reader) == sorted([*mine, *theirs], reverse=True)
    assert cached(reader) == sorted([*mine, *theirs], reverse=True)
    unfollow_account(account=reader.account, target=author.account)
    assert ids(reader) == mine, "immediately"
    work()
    assert ids(reader) == mine
    assert cached(reader) == mine


def test_a_follow_adds_replies_of_other_followed_accounts_to_the_followed_account(
    reader: Person, author: Person
) -> None:
    friend = person()
    follow(reader, friend)
    question = posts(author, 1)[0]
    answer = make_status(friend.account, reply_to=Status.objects.get(id=question))
    later = posts(friend, 1)[0]
    work()
    assert ids(reader) == [later]
    follow(reader, author)
    assert ids(reader) == [later, answer.id, question]


def test_following_an_account_with_more_than_200_posts_leaves_no_gap(reader: Person, author: Person) -> None:
    mine = posts(reader, 1)
    work()
    ids(reader)
    Status.objects.bulk_create(Status(account=author.account, local=True, text="x", content="x") for _ in range(230))
    follow(reader, author)
    assert feed.read(feed.home(reader.id), reader.id, Cursor(1)).lowest is None, (
        "the feed is rebuilt instead of having a gap"
    )
    assert len(walk(reader, "next", f"{HOME}?limit=40")) == 231
    assert mine[0] in walk(reader, "next", f"{HOME}?limit=40")


def test_feeds_are_not_written_for_users_inactive_for_a_week(reader: Person, author: Person) -> None:
    follow(reader, author)
    ids(reader)
    away = clock.now() - timedelta(days=9)
    User.objects.filter(id=reader.user.id).update(active_at=away)
    note_absent_people()
    before = posts(author, 1)
    work()
    assert cached(reader) == []
    redis.client("feeds").flushall()  # simulates the expired feed of a reader who returns after a week
    assert ids(reader) == before, "a returning reader misses nothing"
    assert User.objects.get(id=reader.user.id).active_at > clock.now() - timedelta(minutes=1)
    after = posts(author, 1)
    work()
    assert cached(reader) == [*after, *before]


def test_remote_posts_are_sorted_by_their_time(reader: Person) -> None:
    remote = make_remote()
    factory.follow(reader.account, remote)
    ids(reader)
    now = clock.now()
    late = make_remote_status(remote, created_at=now)
    early = make_remote_status(remote, created_at=now - timedelta(hours=1))
    work()
    assert ids(reader) == [late.id, early.id]
    assert cached(reader) == [late.id, early.id]


def test_posts_of_unfollowed_accounts_are_not_in_the_home_timeline(reader: Person, author: Person) -> None:
    posts(author, 2)
    work()
    assert ids(reader) == []


def rich_post(reader: Person, author: Person, other: Person) -> None:
    status = make_status(other.account, "#tag @nobody :smile: https://example.com", media=[make_media(other.account)])
    make_favourite(reader.account, status)
    make_reblog(author.account, status)
    make_status(author.account, f"@{reader.account.username} hi", media=[make_media(author.account)])


@pytest.mark.parametrize("state", ["feed", "feed, bodies lost", "everything lost"])
def test_a_page_of_forty_takes_as_many_queries_as_a_page_of_two(state: str) -> None:
    counted: dict[int, int] = {}
    for size in (2, 40):
        reader, author, other = person(), person(), person()
        follow(reader, author)
        for _ in range(size // 2):
            rich_post(reader, author, other)
        work()
        ids(reader, limit=size)
        lost = {"feed": [], "feed, bodies lost": ["cache:fragment:*"], "everything lost": ["*"]}[state]
        for pattern in lost:
            redis.client("cache").delete(*redis.client("cache").keys(pattern))
        reader.api.remember_token()
        with CaptureQueriesContext(connection) as queries:
            assert len(ids(reader, limit=size)) == size
        counted[size] = len(queries)
    assert counted[2] == counted[40] <= 8
