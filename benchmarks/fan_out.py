"""Measures how a post reaches the feeds of very many followers, in a running server with one worker.

    python -m benchmarks.fan_out [--followers 10000] [--inactive 90000] [--posts 7] [--lists 0] [--hashtag 0]

It starts the server on a data directory of its own, with people who follow authors of 100, 1,000, 3,000 and 10,000 active
local followers, each of whom has a full feed of 800 posts; a further author has the same 10,000 and 90,000 who were not
here for a month. A post is asked for as clients do, and timed from the request until the last of these feeds has it. The
CPU milliseconds are those of all processes together (web, worker, PostgreSQL, Valkey) until nothing is left to do,
without those of looking whether it has come. Writes the CPU milliseconds against the number of followers to
`results/fan-out.svg`.

With `--lists` an author more has that many active followers who each have it in a list, whose feeds are full as well and are
waited for too; a second such author is besides in as many lists of inactive followers as there are inactive people. With
`--hashtag` an author whom nobody follows uses a hashtag that so many active people follow, and a second author one that
all inactive people follow besides. What the inactive add is printed, and no exit code depends on it.

The exit code is 1 when a post of the author with 10,000 took 2 s or longer (the median), or when
inactive followers cost a tenth more than none.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.client import Client
from benchmarks.measuring import attach, insert, make_people
from benchmarks.plots import draw
from benchmarks.processes import Tree
from tests.support.instance import Instance

LONGEST_SECONDS: Final = 2.0
SURCHARGE: Final = 1.1
FIRST_ID: Final = 1_000_000
FIRST_INACTIVE: Final = 5_000_000
FIRST_LIST: Final = 10_000_000


@dataclass(frozen=True)
class Author:
    """Somebody whose posts are timed: what stands in each of them, and the feeds that get them."""

    client: Client
    feeds: Sequence[str]
    hashtag: str = ""


@dataclass(frozen=True)
class Figures:
    """Milliseconds to the last feed by post, and CPU milliseconds of one."""

    took: list[float]
    cpu: float


def fill_feeds(names: Sequence[str]) -> None:
    """A full feed for each: the first one's, copied."""
    from social.kernel import redis
    from timelines.stores import feed
    from timelines.stores.feed import FeedItem

    # Without its scripts the store would drop all feeds by itself at the first call.
    feed.drop_all()
    items = [FeedItem((1 << 40) + number) for number in range(feed.MAX_ITEMS)]
    first, *others = names
    assert feed.finish(first, feed.begin(first), items, complete=False)
    pipeline = redis.client("feeds").pipeline(transaction=False)
    for name in others:
        pipeline.copy(feed.feed_key(first), feed.feed_key(name))
    pipeline.execute()


def wait_until_idle(tree: Tree) -> float:
    """CPU seconds when the server has been idle for half a second."""
    while True:
        before = tree.cpu()
        time.sleep(0.5)
        if tree.cpu() - before < 0.04:
            return before


def follow(author_id: int, first: int, count: int) -> None:
    """So many people follow the author."""
    from accounts.models import Follow

    own = {"account_id": "n", "target_id": str(author_id), "created_at": "now()"}
    insert(Follow, own, f"generate_series({first}, {first + count - 1}) n")


def make_lists(author_id: int, first_list: int, first: int, count: int) -> list[str]:
    """So many people have the author in a list of their own; the names of the feeds of these lists."""
    from timelines.models import List, ListMember
    from timelines.stores import feed

    people = f"generate_series({first}, {first + count - 1}) n"
    number = f"n - {first} + {first_list}"
    insert(List, {"id": number, "account_id": "n", "title": "'Friends'", "created_at": "now()"}, people)
    insert(ListMember, {"list_id": number, "account_id": str(author_id), "created_at": "now()"}, people)
    return [feed.of_list(first_list + place) for place in range(count)]


def follow_hashtag(name: str, first: int, count: int) -> None:
    """So many people follow the hashtag."""
    from accounts.models import TagFollow
    from accounts.services.tags import ensure_tag

    own = {"account_id": "n", "tag_id": str(ensure_tag(name).id), "created_at": "now()"}
    insert(TagFollow, own, f"generate_series({first}, {first + count - 1}) n")


def time_post(author: Author, number: int) -> float:
    """Seconds from the request until the last of the feeds has the post."""
    from social.kernel import redis
    from timelines.stores import feed
    from timelines.stores.feed import FeedItem

    client = redis.client("feeds")
    missing = list(author.feeds)
    began = time.perf_counter()
    sent = {"status": f"A post, number {number} {author.hashtag}"}
    item = FeedItem(int(author.client.call("POST", "/api/v1/statuses", sent)["id"])).packed()
    # A feed that has it is not asked again; of the others one first.
    while missing:
        assert time.perf_counter() - began < 60, f"{len(missing)} feeds do not get the post"
        if client.zscore(feed.feed_key(missing[0]), item) is None:
            time.sleep(0.01)
            continue
        pipeline = client.pipeline(transaction=False)
        asked = missing[:500]
        for name in asked:
            pipeline.zscore(feed.feed_key(name), item)
        there = [score is not None for score in pipeline.execute()]
        missing = [name for name, has in zip(asked, there, strict=True) if not has] + missing[500:]
    return time.perf_counter() - began


def measure(tree: Tree, author: Author, posts: int) -> Figures:
    """Posts that are timed, then as many that are left alone, so that nothing but their own work is counted."""
    time_post(author, 0)
    took = [time_post(author, number) * 1000 for number in range(1, posts + 1)]
    before = wait_until_idle(tree)
    for number in range(posts):
        sent = {"status": f"Another post, number {number} {author.hashtag}"}
        author.client.call("POST", "/api/v1/statuses", sent)
        time.sleep(0.3)
    return Figures(took, (wait_until_idle(tree) - before) * 1000 / posts)


def main() -> int:
    """Fill, post, and compare; 1 when it takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=10_000)
    parser.add_argument("--inactive", type=int, default=90_000)
    parser.add_argument("--posts", type=int, default=7)
    parser.add_argument("--lists", type=int, default=0, help="active followers who have an author in a list")
    parser.add_argument("--hashtag", type=int, default=0, help="active people who follow a hashtag")
    options = parser.parse_args()
    with Instance(WEB_WORKERS="1") as server:
        assert server.process is not None
        attach(server)
        from django.db import connection

        from tests.factories.accounts import make_token, make_user
        from timelines.services.presence import note_absent_people
        from timelines.stores import feed

        began = time.perf_counter()
        active_people = max(options.followers, options.lists, options.hashtag)
        make_people(FIRST_ID, active_people, name="reader")
        make_people(FIRST_INACTIVE, options.inactive, name="absent", active=False)
        homes = [feed.home(FIRST_ID + number) for number in range(active_people)]
        list_feeds: list[str] = []
        authors: dict[str, Author] = {}
        sizes = sorted({min(size, options.followers) for size in (100, 1000, 3000, options.followers)})
        for name, active, inactive in (
            ("0", 0, 0),
            *((f"{size:,}", size, 0) for size in sizes),
            (f"{options.followers:,} and {options.inactive:,} inactive", options.followers, options.inactive),
            (f"0 and {options.inactive:,} inactive", 0, options.inactive),
        ):
            user = make_user(f"author{len(authors)}")
            follow(user.account_id, FIRST_ID, active)
            follow(user.account_id, FIRST_INACTIVE, inactive)
            authors[name] = Author(Client(server.base_url, make_token(user)), homes[:active])
        for inactive in (0, options.inactive) if options.lists else ():
            user = make_user(f"author{len(authors)}")
            feeds = homes[: options.lists]
            for first, count in ((FIRST_ID, options.lists), (FIRST_INACTIVE, inactive)):
                follow(user.account_id, first, count)
                made = make_lists(user.account_id, FIRST_LIST + len(authors) * 1_000_000 + first, first, count)
                if first == FIRST_ID:
                    list_feeds += made
                    feeds = feeds + made
            name = f"{options.lists:,} with lists" + (f", {inactive:,} absent" if inactive else "")
            authors[name] = Author(Client(server.base_url, make_token(user)), feeds)
        for inactive in (0, options.inactive) if options.hashtag else ():
            user = make_user(f"author{len(authors)}")
            hashtag = f"measured{len(authors)}"
            follow_hashtag(hashtag, FIRST_ID, options.hashtag)
            follow_hashtag(hashtag, FIRST_INACTIVE, inactive)
            name = f"{options.hashtag:,} by hashtag" + (f", {inactive:,} absent" if inactive else "")
            authors[name] = Author(Client(server.base_url, make_token(user)), homes[: options.hashtag], f"#{hashtag}")
        fill_feeds([*homes, *list_feeds])
        # What the server does once an hour.
        assert note_absent_people() == options.inactive
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        print(f"filled in {time.perf_counter() - began:.0f} s", flush=True)
        tree = Tree(server.process.pid)
        found: dict[str, Figures] = {}
        print(
            f"{'active followers':>36} {'p50 ms':>8} {'worst ms':>9} {'CPU ms':>8}   (to the last feed; of a whole post)"
        )
        for name, author in authors.items():
            figures = found[name] = measure(tree, author, options.posts)
            print(
                f"{name:>36} {statistics.median(figures.took):8.0f} {max(figures.took):9.0f} {figures.cpu:8.1f}",
                flush=True,
            )
    none, most = found["0"], found[f"{options.followers:,}"]
    absent = [f for name, f in found.items() if name.endswith("inactive")]
    print(f"CPU ms for 1,000 followers more: {(most.cpu - none.cpu) / options.followers * 1000:.1f}")
    costs = [(max(size, 1), found[f"{size:,}"].cpu) for size in (0, *sizes)]
    times = [(max(size, 1), statistics.median(found[f"{size:,}"].took)) for size in (0, *sizes)]
    with_absent = [(options.followers, absent[0].cpu), (1, absent[1].cpu)][::-1]
    lines = {"CPU ms of a post": costs, "ms to the last feed": times, "CPU ms, inactive too": with_absent}
    title = "A post to followers with feeds"
    print(draw("fan-out", title, across="active followers", up="ms", lines=lines, logarithmic=False))
    quick = statistics.median(most.took) < LONGEST_SECONDS * 1000
    free = absent[0].cpu <= most.cpu * SURCHARGE
    return 0 if quick and free else 1


if __name__ == "__main__":
    sys.exit(main())
