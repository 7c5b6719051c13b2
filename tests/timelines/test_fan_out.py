"""Tests of the fan-out: many posts take a fixed number of queries, and none is lost when Redis fails."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Follow
from accounts.policies.relations import Relations
from accounts.services.blocking import block_account, mute_account, unblock_account, unmute_account
from accounts.services.following import unfollow_account
from social.kernel import redis
from social.kernel.cursors import Cursor
from social.kernel.outbox import OutboxRow, drain
from statuses.events import StatusPublished
from statuses.models import Status
from statuses.policies.posts import Post
from statuses.queries.posts import load_posts
from statuses.services.deleting import delete_status
from tests.factories import statuses as factory
from tests.factories.statuses import make_reblog, make_status
from tests.timelines.conftest import Person, follow, person, work
from timelines.policies import feeds
from timelines.policies.feeds import FeedReason, home_verdict
from timelines.services import fan_out
from timelines.services.fan_out import fan_out_posts
from timelines.stores import feed

pytestmark = pytest.mark.django_db


def event(status: Status) -> StatusPublished:
    return StatusPublished(status_id=status.id, account_id=status.account_id, local=True)


def cached(someone: Person) -> list[int]:
    return [item.id for item in feed.read(feed.home(someone.id), someone.id, Cursor(2000)).items]


def an_empty_feed(someone: Person) -> None:
    feed.finish(feed.home(someone.id), feed.begin(feed.home(someone.id)), [], complete=True)


def test_two_hundred_posts_take_as_many_queries_as_two(reader: Person) -> None:
    authors = [person() for _ in range(4)]
    for author in authors:
        factory.follow(reader.account, author.account)
        an_empty_feed(author)
    an_empty_feed(reader)
    original = make_status(person().account)
    counted = {}
    for size in (2, 200):
        batch = [
            Status.objects.create(
                account=authors[i % 4].account, local=True, text="x", visibility=("public", "private")[i % 2]
            )
            for i in range(size - 1)
        ]
        batch.append(make_reblog(authors[size % 3].account, original))
        with CaptureQueriesContext(connection) as queries:
            fan_out_posts([event(status) for status in batch])
        counted[size] = len(queries)
        assert {status.id for status in batch[:-1]} <= set(cached(reader))
    assert counted[2] == counted[200] <= 6


def test_repeating_a_fan_out_changes_nothing(reader: Person, author: Person) -> None:
    factory.follow(reader.account, author.account)
    an_empty_feed(reader)
    statuses = [make_status(author.account) for _ in range(3)]
    for _ in range(2):
        fan_out_posts([event(status) for status in statuses])
    assert cached(reader) == [status.id for status in statuses[::-1]]


def test_the_rules_are_applied_to_each_reader_separately(author: Person) -> None:
    readers = [person() for _ in range(3)]
    booster = person()
    for someone in readers:
        factory.follow(someone.account, author.account)
        factory.follow(someone.account, booster.account)
        an_empty_feed(someone)
    factory.block(readers[1].account, author.account)
    Follow.objects.filter(account=readers[2].account, target=booster.account).update(show_reblogs=False)
    boost = make_reblog(booster.account, make_status(person().account))
    status = make_status(author.account)
    fan_out_posts([event(boost), event(status)])
    assert [cached(someone) for someone in readers] == [[status.id, boost.id], [boost.id], [status.id]]


def test_a_direct_post_reaches_its_author_and_the_mentioned_follower(reader: Person, author: Person) -> None:
    others = [person() for _ in range(2)]
    for someone in (reader, author, *others):
        an_empty_feed(someone)
        if someone is not author:
            factory.follow(someone.account, author.account)
    status = make_status(author.account, f"@{reader.account.username} psst", visibility="direct")
    fan_out_posts([event(status)])
    assert cached(reader) == cached(author) == [status.id]
    assert [cached(someone) for someone in others] == [[], []]


def test_a_post_deleted_before_the_fan_out_reaches_no_feed(reader: Person, author: Person) -> None:
    factory.follow(reader.account, author.account)
    an_empty_feed(reader)
    status = make_status(author.account)
    assert author.api.delete(f"/api/v1/statuses/{status.id}").status_code == 200
    work()
    assert cached(reader) == []


def test_posts_wait_in_the_outbox_while_redis_is_down(reader: Person, author: Person, settings: Any) -> None:
    factory.follow(reader.account, author.account)
    an_empty_feed(reader)
    work()
    status = make_status(author.account)
    urls = settings.REDIS_URLS
    settings.REDIS_URLS = {**urls, "feeds": "redis://127.0.0.1:1/0"}
    drain("feeds")
    waiting = OutboxRow.objects.filter(queue="feeds", key=f"status:{status.id}")
    assert waiting.exists()
    settings.REDIS_URLS = urls
    redis.circuit("feeds").close()
    waiting.update(due_at="2020-01-01T00:00:00Z", last_error="", claimed_until=None)
    drain("feeds")
    assert cached(reader) == [status.id]
    assert not waiting.exists()


def test_deleting_a_post_with_many_boosts_takes_few_redis_calls(
    reader: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = make_status(person().account)
    boosters = [person() for _number in range(12)]
    for booster in boosters:
        factory.follow(reader.account, booster.account)
        make_reblog(booster.account, status)
    work()
    calls = []
    script = feed._REMOVE_SCRIPT

    def counted(keys: list[str], arguments: list[Any]) -> Any:
        calls.append(len(keys))
        return script(keys, arguments)

    monkeypatch.setattr(feed, "_REMOVE_SCRIPT", counted)
    delete_status(status_id=status.id)
    work()
    assert len(calls) == 1
    assert calls[0] >= len(boosters) + 1, "all feeds are updated together"


@pytest.mark.parametrize(
    ("change", "before", "kept"),
    [
        pytest.param(unfollow_account, None, [0, 1], id="an unfollow"),
        pytest.param(mute_account, None, [0, 1], id="a mute"),
        pytest.param(unmute_account, mute_account, [0, 1], id="the end of a mute"),
        pytest.param(block_account, None, [0, 0], id="a block"),
        pytest.param(unblock_account, block_account, [0, 0], id="the end of a block"),
    ],
)
def test_only_a_block_and_its_end_drop_the_feed_of_the_other_account(
    reader: Person, author: Person, change: Any, before: Any, kept: list[int]
) -> None:
    if change is not block_account:  # the end of the follow would also drop the feed
        follow(reader, author)
    if before is not None:
        before(account=reader.account, target=author.account)
    work()
    for one in (reader, author):
        an_empty_feed(one)
    change(account=reader.account, target=author.account)
    work()
    names = [feed.feed_key(feed.home(one.id)) for one in (reader, author)]
    assert [redis.client("feeds").exists(name) for name in names] == kept


def test_the_same_code_maintains_a_feed_of_any_name(reader: Person) -> None:
    feed.finish("list:5", feed.begin("list:5"), [feed.FeedItem(1)], complete=True)
    feed.add({"list:5": [feed.FeedItem(2)], feed.home(5): [feed.FeedItem(2)]})
    assert [item.id for item in feed.read("list:5", reader.id, Cursor(20)).items] == [2, 1]
    assert feed.read(feed.home(5), reader.id, Cursor(20)).lowest is None


def test_the_rules_are_applied_once_for_readers_with_equal_relations(
    author: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = [person() for _number in range(8)]
    for someone in readers:
        factory.follow(someone.account, author.account)
    factory.mute(readers[0].account, author.account)
    Follow.objects.filter(account=readers[1].account).update(languages=["en"])
    mentioned = readers[2]
    status = make_status(author.account, f"@{mentioned.account.username} hi", visibility="unlisted")
    judged: list[int | None] = []

    def counted(row: Post, relations: Relations, *arguments: Any) -> FeedReason:
        judged.append(relations.viewer_id)
        return home_verdict(row, relations, *arguments)

    monkeypatch.setattr(feeds, "home_verdict", counted)
    homes = fan_out.find_recipients(load_posts([status.id]))[status.id].homes
    assert set(homes) == {author.id, *(someone.id for someone in readers[1:])}
    alike = {someone.id for someone in readers[3:]}
    assert {author.id, *(someone.id for someone in readers[:3])} <= set(judged)
    assert len(alike.intersection(judged)) == 1
