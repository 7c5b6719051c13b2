"""Measures the home timeline of somebody who follows 2,000 people, in a running server with one web worker.

    python -m benchmarks.home [--following 2000] [--statuses 400000] [--requests 400]

It starts the server on a data directory of its own, with so many posts in a year by 10,000 authors, one in six of them a
boost, and a reader who follows some of the authors. Pages are asked for as clients do, in turns: the first with 20 and with
40 posts, one in the middle and one at the end of the feed of 800, those beyond it one after the other as somebody reads on
(600 posts, then again from 800), and one of half a year ago, where no feed ever reaches, each with 20. All these posts have
been shown before: what is compared is finding them. CPU milliseconds are those of all processes together (web, PostgreSQL,
Valkey). Readers who follow 50, 200 and 1,000 people come first. Writes the CPU milliseconds against the number of people
followed to `results/home.svg`. The exit code is 1 when 40 posts cost more than one and a half times 20, or a page at position
700 or beyond the feed more than one and a half times the first.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.client import Client
from benchmarks.measuring import attach, insert
from benchmarks.plots import draw
from benchmarks.processes import Tree
from tests.support.instance import Instance

RATIO_LIMIT: Final = 1.5
AUTHORS: Final = 10_000
FIRST_AUTHOR: Final = 1_000_000
_YEAR_MS: Final = int(timedelta(days=365) / timedelta(milliseconds=1))
KINDS: Final = ("first, 20 posts", "first, 40 posts", "at 400", "at 700", "beyond the feed", "half a year ago")
FEED: Final = 800
"""Posts in the feed before somebody reads on beyond it."""
EXTRA_POSTS: Final = 600
"""Posts read on beyond it."""


@dataclass
class Figures:
    """What requests of one kind cost: milliseconds of each, and CPU seconds of all."""

    took: list[float]
    cpu: float = 0.0

    @property
    def each(self) -> float:
        """CPU milliseconds of one request."""
        return self.cpu * 1000 / max(1, len(self.took))

    def __str__(self) -> str:
        ordered = sorted(self.took)
        p95 = ordered[int((len(ordered) - 1) * 0.95)]
        return f"p50 {statistics.median(ordered):6.1f} ms  p95 {p95:6.1f} ms  {self.each:6.2f} CPU ms"


def fill(statuses: int) -> None:
    """Authors and their posts."""
    from django.db import connection

    from accounts.models import Account
    from social.kernel.ids import first_at
    from statuses.models import Status

    numbers = f"generate_series(0, {AUTHORS - 1}) n"
    uri = "'https://server.example/users/' || n"
    own = {"id": f"{FIRST_AUTHOR} + n", "username": "'author' || n", "domain": "'server.example'", "uri": uri}
    insert(Account, own | {"created_at": "now()", "inbox_url": "'https://server.example/inbox'"}, numbers)
    newest, step = first_at(datetime.now(UTC) - timedelta(minutes=1)), max(1, _YEAR_MS // statuses)
    place = f"({newest} - ((n::bigint * {step}) << 16))"
    with connection.cursor() as cursor:
        # The rows are consistent; asking for each costs more than writing them.
        cursor.execute("SET session_replication_role = replica")
        insert(
            Status,
            {
                "id": place,
                "account_id": f"{FIRST_AUTHOR} + abs(hashint4(n)) % {AUTHORS}",
                "content": "CASE WHEN n % 6 <> 5 THEN '<p>Number ' || n || ', as long as posts usually are.</p>' ELSE '' END",
                "local": "false",
                "uri": f"'https://server.example/s/' || {place}",
                "created_at": f"to_timestamp(({place} >> 16) / 1000.0)",
                "language": "'en'",
                "visibility": "'public'",
                "reblog_of_id": f"CASE WHEN n % 6 = 5 THEN {newest} - (((n + 1 + 6 * (n % 50))::bigint * {step}) << 16) END",
            },
            f"generate_series(0, {statuses - 1}) n",
        )
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE statuses_status, accounts_account")


def make_reader(following: int) -> tuple[str, int]:
    """The token of somebody who follows as many, and the id of their account."""
    from django.db import connection

    from accounts.models import AccountStat, Follow
    from tests.factories.accounts import make_token, make_user

    user = make_user(f"reader{following}")
    # Follows of the first authors: whose posts are spread over the year like everybody's.
    own = {"account_id": str(user.account_id), "target_id": f"{FIRST_AUTHOR} + n", "created_at": "now()"}
    insert(Follow, own, f"generate_series(0, {following - 1}) n")
    AccountStat.objects.update_or_create(account_id=user.account_id, defaults={"following_count": following})
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE accounts_follow")
    return make_token(user), user.account_id


def walk(client: Client, posts: int) -> list[str]:
    """The ids from the top of the timeline down."""
    found: list[str] = []
    while len(found) < posts:
        below = f"&max_id={found[-1]}" if found else ""
        page = [status["id"] for status in client.call("GET", f"/api/v1/timelines/home?limit=40{below}")]
        if not page:
            break
        found += page
    return found


class ReadingOn:
    """Pages beyond the feed, one after the other."""

    def __init__(self, client: Client, account_id: int, first: str) -> None:
        self._client, self._account_id, self._first = client, account_id, first
        self._last, self._posts = first, 0

    def __call__(self) -> None:
        """Ask for the next page."""
        page = self._client.call("GET", f"/api/v1/timelines/home?limit=20&max_id={self._last}")
        self._last, self._posts = page[-1]["id"], self._posts + len(page)
        if len(page) < 20 or self._posts >= EXTRA_POSTS:
            self.begin_again()

    def begin_again(self) -> None:
        """Go back to the end of the feed as it was."""
        from timelines.stores import feed

        feed.shorten(feed.home(self._account_id))
        self._last, self._posts = self._first, 0


def measure(tree: Tree, client: Client, account_id: int, requests: int) -> dict[str, Figures]:
    """Ask for each kind in turns of ten, so that all meet the same machine."""
    from social.kernel.ids import first_at

    ids = walk(client, FEED + EXTRA_POSTS)
    at = {place: ids[min(place, len(ids) - 21)] for place in (400, 700)}
    read_on = ReadingOn(client, account_id, ids[:FEED][-1])
    read_on.begin_again()

    def get(query: str) -> Callable[[], object]:
        return lambda: client.call("GET", f"/api/v1/timelines/home?{query}")

    calls: list[Callable[[], object]] = [
        get("limit=20"),
        get("limit=40"),
        get(f"limit=20&max_id={at[400]}"),
        get(f"limit=20&max_id={at[700]}"),
        read_on,
        get(f"limit=20&max_id={first_at(datetime.now(UTC) - timedelta(days=180))}"),
    ]
    found = {kind: Figures([]) for kind in KINDS}
    for turn in range(requests // 10 + 1):
        for kind, call in zip(KINDS, calls, strict=True):
            before = tree.cpu()
            took = []
            for _request in range(10):
                began = time.perf_counter()
                call()
                took.append((time.perf_counter() - began) * 1000)
            # The first turn warms up.
            if turn:
                found[kind].took += took
                found[kind].cpu += tree.cpu() - before
    return found


def main() -> int:
    """Fill and read; 1 when a page costs too much more than another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--following", type=int, default=2000)
    parser.add_argument("--statuses", type=int, default=400_000)
    parser.add_argument("--requests", type=int, default=400, help="of each kind")
    options = parser.parse_args()
    lines: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}
    with Instance(WEB_WORKERS="1") as server:
        assert server.process is not None
        attach(server)
        began = time.perf_counter()
        fill(options.statuses)
        print(f"filled in {time.perf_counter() - began:.0f} s", flush=True)
        tree = Tree(server.process.pid)
        found: dict[str, Figures] = {}
        sizes = sorted({min(size, options.following) for size in (50, 200, 1000, options.following)})
        # All of them first: a connection plans anew, for hundreds of requests, what has become dearer since it was planned.
        readers = {following: make_reader(following) for following in sizes}
        for following, (token, account_id) in readers.items():
            found = measure(tree, Client(server.base_url, token), account_id, options.requests)
            for kind, figures in found.items():
                print(f"following {following:>6,}  {kind:>16}: {figures}", flush=True)
                lines[kind].append((following, figures.each))
    print(draw("home", "Home: CPU of a page", across="people followed", up="CPU ms", lines=lines))
    first, larger, _middle, deep, beyond, _old = (found[kind].each for kind in KINDS)
    print("times the first with 20:", *(f"{kind} {found[kind].each / first:.2f}" for kind in KINDS[1:]), sep="  ")
    return 0 if max(larger, deep, beyond) <= RATIO_LIMIT * first else 1


if __name__ == "__main__":
    sys.exit(main())
