"""Measures the public timelines of a large server: `GET /api/v1/timelines/public` as clients ask it.

    python -m benchmarks.public [--statuses 5000000] [--requests 100] [--plans]

It starts PostgreSQL and Valkey of its own in a temporary directory, fills the tables with the same posts every time, in
three steps (a hundredth, a tenth, all of them: older and older ones), and asks the API in this process after each, so that a
figure is the work of one request with its statements. Of the posts six in ten are public, one in ten is a boost, a quarter
answers somebody else's, one in ten has a file, one in fifty was written here; they are of 20,000 authors on 2,000
servers, some of whom write much more than others. The viewer blocks the 1,000 people who write most (who wrote more than
half of all posts), mutes 200, is blocked by 200, blocks 50 servers, and reads two of five languages. Another viewer, to whom
the same applies, reads a sixth language alone, in which one post in a thousand is written: the kind "rare chosen language".
Prints times, CPU milliseconds and buffers by kind of timeline, and writes the CPU milliseconds against the number of posts
to `results/public.svg`. The exit code is 1 when a 95th percentile among all posts is above 50 ms.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.measuring import Cost, Processor, columns, count_buffers, measure, show_plans, start, stop
from benchmarks.plots import draw

P95_MS: Final = 50.0
AUTHORS: Final = 20_000
SERVERS: Final = 2_000
BLOCKED, MUTED, BLOCKERS, BLOCKED_SERVERS = 1_000, 200, 200, 50
FIRST_AUTHOR: Final = 1_000_000
LANGUAGES: Final = ("en", "de", "fr", "ja", "ar")
CHOSEN: Final = ("en", "de")
RARE: Final = "eu"
RARE_KIND: Final = "rare chosen language"
_YEAR_MS: Final = int(timedelta(days=365) / timedelta(milliseconds=1))
KINDS: Final[dict[str, dict[str, str]]] = {
    "all": {},
    "local": {"local": "true"},
    "remote": {"remote": "true"},
    "with files": {"only_media": "true"},
    "local with files": {"local": "true", "only_media": "true"},
    "remote with files": {"remote": "true", "only_media": "true"},
    RARE_KIND: {},
}


def fill_people() -> None:
    """Authors and their servers."""
    from accounts.models import Account, Domain

    # Author 0 writes most; every fiftieth is of this server.
    Account.objects.bulk_create(
        (
            Account(
                id=FIRST_AUTHOR + number,
                username=f"author{number}",
                domain=None if number % 50 == 49 else f"server{number % SERVERS}.example",
                uri=f"https://server{number % SERVERS}.example/users/{number}",
                url="https://server.example/",
            )
            for number in range(AUTHORS)
        ),
        batch_size=1000,
    )
    Domain.objects.bulk_create(
        (Domain(name=f"server{number}.example") for number in range(SERVERS)), ignore_conflicts=True
    )


def relate(reader_id: int, languages: Sequence[str]) -> None:
    """How a viewer stands to the authors, and which languages it reads."""
    from django.db import connection

    from accounts.models import User

    with connection.cursor() as cursor:
        for statement, first, count in (
            ("INSERT INTO accounts_block (account_id, target_id, created_at) SELECT %s, n, now()", 0, BLOCKED),
            (
                "INSERT INTO accounts_mute (account_id, target_id, hide_notifications, created_at) SELECT %s, n, true, now()",
                BLOCKED,
                MUTED,
            ),
            (
                "INSERT INTO accounts_block (target_id, account_id, created_at) SELECT %s, n, now()",
                BLOCKED + MUTED,
                BLOCKERS,
            ),
        ):
            begin = FIRST_AUTHOR + first
            cursor.execute(f"{statement} FROM generate_series(%s, %s) n", [reader_id, begin, begin + count - 1])
        cursor.execute(
            "INSERT INTO accounts_accountdomainblock (account_id, domain, created_at)"
            " SELECT %s, 'server' || n || '.example', now() FROM generate_series(1, %s) n",
            [reader_id, BLOCKED_SERVERS],
        )
        cursor.execute("VACUUM ANALYZE accounts_account, accounts_block, accounts_mute, accounts_accountdomainblock")
    user = User.objects.get(account_id=reader_id)
    user.preferences = {**user.preferences, "chosen_languages": list(languages)}
    user.save(update_fields=["preferences"])


def fill_posts(first: int, end: int, step: int, newest: int) -> None:
    """Posts number `first` to `end`, each `step` milliseconds older than the one before; one in ten boosts another."""
    from django.db import connection

    from statuses.models import MediaAttachment, Status

    author = f"{FIRST_AUTHOR} + author"
    common = "(ARRAY[" + ", ".join(f"'{code}'" for code in LANGUAGES) + "])[1 + n % 5]"
    language = f"CASE WHEN n % 1000 = 17 THEN '{RARE}' ELSE {common} END"
    posts = columns(
        Status,
        {
            "id": "id",
            "account_id": author,
            "text": "''",
            "content": "'<p>Post number ' || n || '</p>'",
            "local": "author % 50 = 49",
            "uri": "'https://server.example/s/' || id",
            "created_at": "to_timestamp((id >> 16) / 1000.0)",
            "language": language,
            "visibility": "CASE WHEN chance < 0.7 THEN 'public' WHEN chance < 0.9 THEN 'unlisted' ELSE 'private' END",
            "in_reply_to_account_id": f"CASE WHEN reply THEN {FIRST_AUTHOR} + (author + 7) % {AUTHORS} END",
            "reblog_of_id": f"CASE WHEN boost THEN {newest} - (((n - 5)::bigint * {step}) << 16) END",
        },
    )
    media = columns(
        MediaAttachment,
        {"account_id": author, "status_id": "id", "type": "'image'", "content_type": "'image/jpeg'", "meta": "'{}'"},
    )
    with connection.cursor() as cursor:
        # The rows are consistent; asking for each costs more than writing them.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(
            f"CREATE TEMP TABLE generated AS SELECT n, {newest} - ((n::bigint * {step}) << 16) AS id,"
            f" floor({AUTHORS} * power(random(), 4))::int AS author, random() AS chance,"
            " n % 10 = 9 AS boost, n % 10 <> 9 AND random() < 0.25 AS reply, n % 10 <> 9 AND random() < 0.1 AS media"
            f" FROM generate_series({first}, {end - 1}) n"
        )
        for table, values, condition in (
            ("statuses_status", posts, ""),
            ("statuses_mediaattachment", media, " WHERE media"),
        ):
            listed, selected = ", ".join(values), ", ".join(values.values())
            cursor.execute(
                f"INSERT INTO {table} ({listed}) SELECT {selected} FROM generated{condition} ORDER BY n DESC"
            )
        cursor.execute("DROP TABLE generated")
        cursor.execute("SET session_replication_role = DEFAULT")
        cursor.execute("VACUUM ANALYZE statuses_status, statuses_mediaattachment")


def main() -> int:
    """Fill and read, three times; 1 when it is too slow at last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statuses", type=int, default=5_000_000)
    parser.add_argument("--requests", type=int, default=100, help="of each kind and size")
    parser.add_argument("--plans", action="store_true", help="print the plan of the slowest kind")
    options = parser.parse_args()
    embedded, folder = start()
    try:
        from social.kernel.ids import first_at
        from tests.factories.accounts import make_token, make_user
        from tests.support.client import Api

        fill_people()
        readers = {}
        for name, languages in (("reader", CHOSEN), ("rare", (RARE,))):
            user = make_user(name)
            relate(user.account_id, languages)
            readers[name] = Api(make_token(user))
        processor = Processor(embedded.processes["postgres"].pid)
        step = max(1, _YEAR_MS // options.statuses)
        newest = first_at(datetime.now(UTC) - timedelta(minutes=1))

        def ask(kind: str, **place: str) -> Callable[[], object]:
            api = readers["rare" if kind == RARE_KIND else "reader"]

            def call() -> object:
                answer = api.get("/api/v1/timelines/public", KINDS[kind] | place)
                assert answer.status_code == 200, answer.content
                return answer

            return call

        lines: dict[str, list[tuple[float, float]]] = defaultdict(list)
        costs: dict[str, Cost] = {}
        filled = 0
        for size in sorted({options.statuses // 100, options.statuses // 10, options.statuses}):
            began = time.perf_counter()
            fill_posts(filled, size, step, newest)
            filled = size
            print(f"\n{size:,} posts, filled in {time.perf_counter() - began:.0f} s", flush=True)
            chance = random.Random(9)
            for kind in KINDS:
                ask(kind)()
                # The newest page, and pages further down, as somebody scrolls.
                places = [0 if number % 2 else chance.randrange(size // 10) for number in range(options.requests)]
                calls = [ask(kind, **({"max_id": str(newest - ((n * step) << 16))} if n else {})) for n in places]
                costs[kind], _took = measure(processor, calls)
                print(f"{kind:>20}: {costs[kind]}  {count_buffers(ask(kind)):,} buffers", flush=True)
                lines[kind].append((size, costs[kind].cpu))
        slowest = max(costs, key=lambda kind: costs[kind].p95)
        if options.plans:
            print(f"\nPlans of {slowest!r}")
            show_plans(ask(slowest))
        print(draw("public", "Public timelines: a page of 20", across="posts", up="CPU ms", lines=lines))
        return 0 if costs[slowest].p95 <= P95_MS else 1
    finally:
        stop(embedded, folder)


if __name__ == "__main__":
    sys.exit(main())
