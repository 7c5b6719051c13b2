"""Measures how a post reaches the feeds of very many followers, in a running server with one worker.

    python -m benchmarks.fan_out [--followers 10000] [--inactive 90000] [--posts 7]

It starts the server on a data directory of its own, with people who follow authors of 100, 1,000, 3,000 and 10,000 active
local followers, each of whom has a full feed of 800 posts; a further author has the same 10,000 and 90,000 who were not
here for a month. A post is asked for as clients do, and timed from the request until the last of these feeds has it. The
CPU milliseconds are those of all processes together (web, worker, PostgreSQL, Valkey) until nothing is left to do,
without those of looking whether it has come. Writes the CPU milliseconds against the number of followers to
`results/fan-out.svg`. The exit code is 1 when a post of the author with 10,000 took 2 s or longer (the median), or when
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


@dataclass(frozen=True)
class Figures:
    """Milliseconds to the last feed by post, and CPU milliseconds of one."""

    took: list[float]
    cpu: float


def fill_feeds(followers: Sequence[int]) -> None:
    """A full feed for each: the first one's, copied."""
    from social.kernel import redis
    from timelines.stores import feed
    from timelines.stores.feed import FeedItem

    # Without its scripts the store would drop all feeds by itself at the first call.
    feed.drop_all()
    items = [FeedItem((1 << 40) + number) for number in range(feed.MAX_ITEMS)]
    first, *others = map(feed.home, followers)
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


def time_post(author: Client, number: int, followers: Sequence[int]) -> float:
    """Seconds from the request until the last of the feeds has the post."""
    from social.kernel import redis
    from timelines.stores import feed
    from timelines.stores.feed import FeedItem

    client = redis.client("feeds")
    missing = list(followers)
    began = time.perf_counter()
    item = FeedItem(int(author.call("POST", "/api/v1/statuses", {"status": f"A post, number {number}"})["id"])).packed()
    # A feed that has it is not asked again; of the others one first.
    while missing:
        assert time.perf_counter() - began < 60, f"{len(missing)} feeds do not get the post"
        if client.zscore(feed.feed_key(feed.home(missing[0])), item) is None:
            time.sleep(0.01)
            continue
        pipeline = client.pipeline(transaction=False)
        asked = missing[:500]
        for account in asked:
            pipeline.zscore(feed.feed_key(feed.home(account)), item)
        there = [score is not None for score in pipeline.execute()]
        missing = [account for account, has in zip(asked, there, strict=True) if not has] + missing[500:]
    return time.perf_counter() - began


def measure(tree: Tree, author: Client, followers: Sequence[int], posts: int) -> Figures:
    """Posts that are timed, then as many that are left alone, so that nothing but their own work is counted."""
    time_post(author, 0, followers)
    took = [time_post(author, number, followers) * 1000 for number in range(1, posts + 1)]
    before = wait_until_idle(tree)
    for number in range(posts):
        author.call("POST", "/api/v1/statuses", {"status": f"Another post, number {number}"})
        time.sleep(0.3)
    return Figures(took, (wait_until_idle(tree) - before) * 1000 / posts)


def main() -> int:
    """Fill, post, and compare; 1 when it takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--followers", type=int, default=10_000)
    parser.add_argument("--inactive", type=int, default=90_000)
    parser.add_argument("--posts", type=int, default=7)
    options = parser.parse_args()
    with Instance(WEB_WORKERS="1") as server:
        assert server.process is not None
        attach(server)
        from django.db import connection

        from accounts.models import Follow
        from tests.factories.accounts import make_token, make_user
        from timelines.services.presence import note_absent_people

        began = time.perf_counter()
        make_people(FIRST_ID, options.followers, name="reader")
        make_people(FIRST_INACTIVE, options.inactive, name="absent", active=False)
        people = range(FIRST_ID, FIRST_ID + options.followers)
        fill_feeds(people)
        authors: dict[str, tuple[Client, Sequence[int]]] = {}
        sizes = sorted({min(size, options.followers) for size in (100, 1000, 3000, options.followers)})
        for name, active, inactive in (
            ("0", 0, 0),
            *((f"{size:,}", size, 0) for size in sizes),
            (f"{options.followers:,} and {options.inactive:,} inactive", options.followers, options.inactive),
            (f"0 and {options.inactive:,} inactive", 0, options.inactive),
        ):
            user = make_user(f"author{len(authors)}")
            for first, count in ((FIRST_ID, active), (FIRST_INACTIVE, inactive)):
                own = {"account_id": "n", "target_id": str(user.account_id), "created_at": "now()"}
                insert(Follow, own, f"generate_series({first}, {first + count - 1}) n")
            authors[name] = Client(server.base_url, make_token(user)), people[:active]
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
        for name, (author, followers) in authors.items():
            figures = found[name] = measure(tree, author, followers, options.posts)
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
