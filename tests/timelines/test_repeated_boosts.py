"""Tests that exactly the boosts which repeat nearby posts are left out, for any page and any source of posts."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from social.kernel import redis
from social.kernel.cursors import Cursor
from tests.timelines.worlds import shown
from timelines.policies.feeds import repeated_items
from timelines.queries.feed_pages import FeedPage, NotHeldError, Stretch, find_page
from timelines.stores import feed
from timelines.stores.feed import FeedItem

READER = feed.home(7)
Page = Callable[[Cursor], FeedPage]


@dataclass
class Timeline:
    """The posts that a reader can see, newest first, as SQL returns them, with the number of queries."""

    items: list[FeedItem]
    asked: int = field(default=0)

    def read(self, cursor: Cursor) -> Stretch:
        self.asked += 1
        low, high = cursor.after or 0, cursor.before or self.items[0].id + 1
        found = [item for item in self.items if low < item.id < high]
        found = (found[::-1] if cursor.ascending else found)[: cursor.limit]
        return Stretch(found, complete=len(found) < cursor.limit)

    def in_sql(self, cursor: Cursor) -> FeedPage:
        return find_page(self.read, cursor)

    def in_feed(self, cursor: Cursor) -> FeedPage:
        """Return a page from a feed that holds the newest posts, and from SQL below it."""

        def read(wanted: Cursor) -> Stretch:
            found = feed.read(READER, 1, wanted)
            return Stretch(found.items, found.complete)

        try:
            return find_page(read, cursor)
        except NotHeldError:
            return find_page(self.read, cursor)


def timeline(number: int, *, boosts: float, among: int, seed: int = 0) -> Timeline:
    """Create a timeline with this share of boosts. Each of them boosts one of the last `among` originals before it."""
    chance = random.Random(number * boosts + seed)
    items: list[FeedItem] = []
    originals: list[int] = []
    for post in range(1, number + 1):
        if originals and chance.random() < boosts:
            items.append(FeedItem(post, chance.choice(originals[-among:])))
        else:
            items.append(FeedItem(post))
            originals.append(post)
    return Timeline(items[::-1])


def walk_down(page: Page, limit: int) -> list[int]:
    found: list[int] = []
    while more := page(Cursor(limit, before=found[-1] if found else None)).page:
        found += [item.id for item in more]
    return found


def walk_up(page: Page, limit: int) -> list[int]:
    found: list[int] = []
    while more := page(Cursor(limit, after=found[-1] if found else 0, ascending=True)).page:
        found += [item.id for item in more]
    return found[::-1]


@pytest.mark.parametrize(("boosts", "among"), [(0.2, 300), (0.3, 60), (0.5, 60), (0.5, 200), (0.8, 30)])
@pytest.mark.parametrize("limit", [1, 20])
def test_every_page_in_both_directions_follows_the_rule(boosts: float, among: int, limit: int) -> None:
    redis.client("feeds").flushdb()
    world = timeline(700, boosts=boosts, among=among)
    feed.read(READER, 1, Cursor(1))  # a Redis server without the Lua scripts drops all feeds at the first call
    assert feed.finish(READER, feed.begin(READER), world.items[:300], complete=False)
    expected = shown(world.items)
    assert 0 < len(expected) < len(world.items)
    for page in (world.in_sql, world.in_feed):
        assert walk_down(page, limit) == expected
        assert walk_up(page, limit) == expected


def test_a_feed_filled_in_any_order_shows_the_same_as_sql() -> None:
    for seed in range(20):
        redis.client("feeds").flushdb()
        world = timeline(200, boosts=0.4, among=20, seed=seed)
        chance = random.Random(seed)
        feed.read(READER, 1, Cursor(1))
        assert feed.finish(READER, feed.begin(READER), [], complete=True)
        late = world.items.copy()
        chance.shuffle(late)
        for item in late:
            feed.add({READER: [item]})
        world.items = [item for item in world.items if chance.random() < 0.9]
        kept = set(world.items)
        feed.remove({READER: [item for item in late if item not in kept]})
        for _page in range(20):
            bound = chance.choice([None, chance.randint(1, 200)])
            other = chance.choice([None, chance.randint(1, 200)])
            cursor = Cursor(chance.randint(1, 40), before=bound, after=other, ascending=chance.random() < 0.5)
            expected = [post for post in shown(world.items) if (other or 0) < post < (bound or 201)]
            expected = (expected[::-1] if cursor.ascending else expected)[: cursor.limit]
            for page in (world.in_sql(cursor), world.in_feed(cursor)):
                assert [item.id for item in page.page] == expected, (seed, cursor)


def test_a_boost_is_repeated_if_its_post_is_among_the_forty_next_older_items() -> None:
    between = [FeedItem(post) for post in range(101, 140)]
    original, boost, again = FeedItem(100), FeedItem(200, 100), FeedItem(300, 100)
    assert repeated_items([original, *between, boost])[-1] == original, "the original is the fortieth older item"
    assert repeated_items([original, *between, FeedItem(150), boost])[-1] is None, "it is the forty-first older item"
    more = [FeedItem(post) for post in range(201, 240)]
    assert repeated_items([original, *between, boost, *more, again])[-1] == boost, (
        "a boost can repeat a boost that is not shown"
    )
    assert repeated_items([boost, original]) == [None, None], "a newer post does not hide an older boost"
    assert repeated_items([FeedItem(100), FeedItem(101, 99), FeedItem(102, 100)]) == [None, None, FeedItem(100)]


def test_a_page_continues_after_a_thousand_boosts_of_one_post_with_few_queries() -> None:
    crowd = [FeedItem(post, 50) for post in range(51, 1051)]
    world = Timeline([*map(FeedItem, range(1, 51)), *crowd, FeedItem(1051)][::-1])
    assert [item.id for item in world.in_sql(Cursor(5)).page] == [1051, 50, 49, 48, 47]
    assert [item.id for item in world.in_sql(Cursor(5, after=50, ascending=True)).page] == [1051]
    assert world.asked <= 16


def test_endless_repeated_boosts_are_paged_through_at_limited_cost() -> None:
    world = Timeline([FeedItem(post, 0 if post < 41 else 1 + post % 40) for post in range(1, 10_001)][::-1])
    world.items.insert(0, FeedItem(10_001))
    for walk in (walk_down, walk_up):
        world.asked = 0
        found = walk(world.in_sql, 20)
        assert [post for post in found if post < 41] == [*range(40, 0, -1)]
        assert 10_001 in found
        assert world.asked <= 10 * len(found)
