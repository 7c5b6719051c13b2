"""Tests of the feeds in Redis: a feed is complete down to its lowest item, has a maximum length, and loses no post while it is
built.
"""

import pytest

from social.kernel import redis
from social.kernel.cursors import Cursor
from timelines.stores import feed
from timelines.stores.feed import FeedItem

READER, OTHER = feed.home(7), feed.home(8)
BASE = 117_000_000_000_000_000  # ids as large as real ones, beyond the precision of a double


@pytest.fixture(autouse=True)
def _empty_feeds() -> None:
    redis.client("feeds").flushdb()


def build(*ids: int, complete: bool = True, reader: str = READER) -> None:
    mark = feed.begin(reader)
    assert feed.finish(reader, mark, [FeedItem(i) for i in ids], complete=complete)


def ids(reader: str = READER, **bounds: int) -> list[int]:
    return [item.id for item in feed.read(reader, 1, Cursor(2000, **bounds)).items]


def test_adding_posts_does_not_create_a_missing_feed() -> None:
    feed.add({READER: [FeedItem(1)]})
    assert feed.read(READER, 1, Cursor(20)).lowest is None


def test_an_empty_feed_differs_from_a_missing_one() -> None:
    build()
    found = feed.read(READER, 1, Cursor(20))
    assert (found.items, found.complete, found.lowest) == ([], True, FeedItem(0))


def test_adjacent_ids_beyond_the_precision_of_a_double_stay_distinct() -> None:
    build(*(BASE + i for i in range(20)))
    assert ids(before=BASE + 10) == [BASE + i for i in range(9, -1, -1)]
    assert ids(after=BASE + 10) == [BASE + i for i in range(19, 10, -1)]
    slice_up = feed.read(READER, 1, Cursor(3, after=BASE + 10, ascending=True))
    assert [item.id for item in slice_up.items] == [BASE + 11, BASE + 12, BASE + 13]


def test_a_slice_is_complete_if_no_items_follow_it() -> None:
    build(10, 11, 12, complete=False)
    assert not feed.read(READER, 1, Cursor(3)).complete
    assert not feed.read(READER, 1, Cursor(4)).complete, "there may be more posts below the lowest item"
    assert feed.read(READER, 1, Cursor(3, after=10, ascending=True)).complete
    assert not feed.read(READER, 1, Cursor(2, after=10, ascending=True)).complete
    redis.client("feeds").flushdb()
    build(10, 11, 12)
    assert feed.read(READER, 1, Cursor(4)).complete
    assert not feed.read(READER, 1, Cursor(3)).complete


def test_a_post_below_the_lowest_item_of_a_feed_without_a_floor_is_not_added() -> None:
    build(10, 11, complete=False)
    feed.add({READER: [FeedItem(5), FeedItem(12)]})
    assert ids() == [12, 11, 10]
    redis.client("feeds").flushdb()
    build(10, 11, complete=True)
    feed.add({READER: [FeedItem(5), FeedItem(12)]})
    assert ids() == [12, 11, 10, 5], "a late post is inserted when no posts can be missing"


def test_a_feed_holds_800_items_and_loses_its_floor_with_the_801st() -> None:
    build(*range(1, 800))
    assert feed.read(READER, 1, Cursor(2000)).complete
    feed.add({READER: [FeedItem(i) for i in range(800, 851)]})
    found = feed.read(READER, 1, Cursor(2000))
    assert [item.id for item in found.items] == list(range(850, 50, -1))
    assert not found.complete


def test_adding_twice_changes_nothing() -> None:
    build(1)
    for _ in range(2):
        feed.add({READER: [FeedItem(2), FeedItem(3, 1)]})
    assert ids() == [3, 2, 1]


def test_posts_are_removed_and_missing_ones_are_ignored() -> None:
    build(1, 2, 3)
    feed.remove({name: [FeedItem(2), FeedItem(9)] for name in (READER, feed.home(99))})
    assert ids() == [3, 1]


def test_posts_added_while_a_feed_is_built_are_in_it_afterwards() -> None:
    mark = feed.begin(READER)
    feed.add({READER: [FeedItem(5)]})  # this post is committed after the builder has read 1 to 3
    assert feed.finish(READER, mark, [FeedItem(i) for i in (1, 2, 3)], complete=True)
    assert ids() == [5, 3, 2, 1]


def test_posts_deleted_while_a_feed_is_built_are_not_restored_from_the_side_set() -> None:
    mark = feed.begin(READER)
    feed.add({READER: [FeedItem(5)]})
    feed.remove({READER: [FeedItem(5)]})
    feed.finish(READER, mark, [FeedItem(1)], complete=True)
    assert ids() == [1]


def test_a_builder_with_outdated_posts_stores_nothing() -> None:
    mark = feed.begin(READER)
    feed.drop([READER])  # a block drops the feed after the builder has read the posts
    assert not feed.finish(READER, mark, [FeedItem(1)], complete=True)
    mark = feed.begin(READER)
    redis.client("feeds").flushall()
    assert not feed.finish(READER, mark, [FeedItem(1)], complete=True)
    assert feed.read(READER, 1, Cursor(20)).lowest is None


def test_the_first_of_two_builders_stores_the_feed_and_no_post_is_lost() -> None:
    first, second = feed.begin(READER), feed.begin(READER)
    assert feed.finish(READER, first, [FeedItem(1), FeedItem(2)], complete=True)
    feed.add({READER: [FeedItem(3)]})
    assert not feed.finish(READER, second, [FeedItem(1)], complete=True)
    assert ids() == [3, 2, 1]
    assert not redis.client("feeds").exists(f"{feed.feed_key(READER)}:build"), "the side set is deleted"


def test_a_feed_is_extended_only_below_the_lowest_item_that_the_builder_read() -> None:
    build(10, 11, complete=False)
    mark = feed.begin(READER)
    assert feed.finish(READER, mark, [FeedItem(8), FeedItem(9)], below=FeedItem(10), complete=True)
    assert ids() == [11, 10, 9, 8]
    assert feed.read(READER, 1, Cursor(20)).complete
    mark = feed.begin(READER)
    assert not feed.finish(READER, mark, [FeedItem(1)], below=FeedItem(10), complete=True)
    assert ids() == [11, 10, 9, 8]


def test_a_late_post_within_the_new_part_of_a_feed_is_not_lost() -> None:
    build(10, 11, complete=False)
    mark = feed.begin(READER)
    # this post is older than the lowest item, so it is not in the feed yet, and the builder has not read it
    feed.add({READER: [FeedItem(7)]})
    feed.finish(READER, mark, [FeedItem(6), FeedItem(8)], below=FeedItem(10), complete=False)
    assert ids() == [11, 10, 8, 7, 6]


def test_a_feed_is_kept_for_seven_days_after_it_was_read() -> None:
    build(1)
    key = feed.feed_key(READER)
    redis.client("feeds").expire(key, 5)
    feed.read(READER, 1, Cursor(1))
    assert redis.client("feeds").ttl(key) > 6.9 * 86400


def test_posts_are_added_to_the_feeds_of_many_readers_together() -> None:
    readers = [feed.home(number) for number in range(100, 1300)]
    for reader in readers:
        build(1, reader=reader)
    shared = [FeedItem(2)]
    feed.add(dict.fromkeys(readers, shared))
    assert {tuple(ids(reader)) for reader in readers} == {(2, 1)}


def test_the_newest_items_of_many_feeds_are_read_together_without_their_floors() -> None:
    build(*range(1, 61), complete=False)
    build(5, reader=OTHER)
    absent = feed.home(9)
    found = feed.newest([READER, OTHER, absent], 40)
    assert found == {READER: [FeedItem(i) for i in range(21, 61)], OTHER: [FeedItem(5)], absent: []}


def test_the_same_posts_are_added_to_many_feeds_according_to_the_state_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "_KEYS_PER_CALL", 2)
    names = [feed.home(number) for number in range(7000, 7006)]
    old, post, boost = FeedItem(10), FeedItem(20), FeedItem(30, 20)
    for name in names[:4]:
        build(old.id, complete=False, reader=name)
    built, absent = names[4:]
    mark = feed.begin(built)
    feed.add({names[0]: [post]})
    both = [FeedItem(5), post, boost]
    feed.add(dict.fromkeys(names, both))
    for name in names[:4]:
        assert ids(name) == [boost.id, post.id, old.id]
    assert ids(absent) == []
    assert feed.finish(built, mark, [old], complete=False)
    assert ids(built) == [boost.id, post.id, old.id]
    one, others = [FeedItem(40)], [FeedItem(41)]
    feed.add({name: one if name == names[0] else others for name in names[:4]})
    assert [ids(name)[0] for name in names[:4]] == [40, 41, 41, 41]
