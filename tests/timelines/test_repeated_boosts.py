"""Pages that are read from SQL leave out the boosts that a feed would have skipped, and no others, wherever a page begins."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from social.kernel.cursors import Cursor
from timelines.policies.aggregation import judge_repeats, without_repeats
from timelines.queries.home import find_feed_page
from timelines.stores.feed import FeedItem


@dataclass
class Posts:
    """What a reader may see, as SQL would answer, and how often it was asked."""

    items: list[FeedItem]
    asked: int = field(default=0)

    def read(self, cursor: Cursor) -> list[FeedItem]:
        self.asked += 1
        low, high = cursor.after or 0, cursor.before or self.items[-1].id + 1
        found = [item for item in self.items if low < item.id < high]
        return (found if cursor.ascending else found[::-1])[: cursor.limit]

    def shown(self) -> list[int]:
        """All that a feed would hold to which one post after the other was added."""
        return [item.id for item in without_repeats(self.items)]


def posts(number: int, *, boosts: float, among: int) -> Posts:
    """So many posts, of which this part are boosts of the newest few at their time."""
    chance = random.Random(number * boosts)
    items: list[FeedItem] = []
    originals: list[int] = []
    for post in range(1, number + 1):
        if originals and chance.random() < boosts:
            items.append(FeedItem(post, chance.choice(originals[-among:])))
        else:
            items.append(FeedItem(post))
            originals.append(post)
    return Posts(items)


@pytest.mark.parametrize(("boosts", "among"), [(0.2, 300), (0.3, 60), (0.5, 60), (0.5, 200)])
def test_every_post_is_shown_once_and_in_order_among_many_boosts_in_both_directions(boosts: float, among: int) -> None:
    world = posts(1500, boosts=boosts, among=among)
    down: list[int] = []
    while page := find_feed_page(world.read, Cursor(20, before=down[-1] if down else None), spare=40).page:
        down += [item.id for item in page]
    up: list[int] = []
    while page := find_feed_page(world.read, Cursor(20, after=up[-1] if up else 0, ascending=True)).page:
        up += [item.id for item in page]
    assert up == world.shown()
    assert down == world.shown()[::-1]


def test_what_is_put_into_a_feed_is_what_the_feed_would_hold() -> None:
    world = posts(1500, boosts=0.5, among=60)
    shown = world.shown()
    for before in range(200, 1500, 43):
        certain = [item.id for item in find_feed_page(world.read, Cursor(20, before=before)).certain]
        assert len(certain) >= 20
        assert certain == [post for post in reversed(shown) if certain[-1] <= post < before]


def test_a_page_goes_on_behind_a_hundred_boosts_of_one_post() -> None:
    crowd = [FeedItem(post, 50) for post in range(51, 151)]
    world = Posts([*map(FeedItem, range(1, 51)), *crowd, FeedItem(151)])
    assert [item.id for item in find_feed_page(world.read, Cursor(5)).page] == [151, 50, 49, 48, 47]
    assert [item.id for item in find_feed_page(world.read, Cursor(5, after=50, ascending=True)).page] == [151]


def test_boosts_that_follow_each_other_without_end_are_judged_after_a_bounded_number_of_posts() -> None:
    world = Posts([FeedItem(post, 0 if post % 30 else 1) for post in range(1, 20_000)])
    assert len(find_feed_page(world.read, Cursor(20)).page) == 20
    assert world.asked <= 16
    world.asked = 0
    assert len(find_feed_page(world.read, Cursor(20, after=10_000, ascending=True)).page) == 20
    assert world.asked <= 16


def test_a_boost_is_not_judged_before_what_it_depends_on_is_known() -> None:
    def judge(*items: FeedItem) -> list[bool | None]:
        return [shown for _item, shown in judge_repeats(items, complete=False)]

    rest = [FeedItem(post) for post in range(10, 49)]
    boost, again = FeedItem(60, 1), FeedItem(100, 1)
    assert judge(*rest, boost)[-1] is None, "the original may be next below"
    assert judge(*rest, FeedItem(60, 20))[-1] is False
    assert judge(*rest, FeedItem(60, 55))[-1] is True, "another boost of it would be newer than it, and here"
    assert judge(FeedItem(9), *rest, boost)[-1] is True
    assert judge(FeedItem(1), *rest, boost)[-1] is False
    # Whether the second is a repeat depends on whether the first is shown.
    assert judge(boost, *map(FeedItem, range(61, 100)), again)[-1] is None
    assert judge(boost, *map(FeedItem, range(61, 101)), FeedItem(101, 1))[-1] is True
