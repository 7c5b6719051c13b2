"""`python -m benchmarks.migrations`: how long each migration keeps a writer waiting on a server with a million posts.

A kept dump of an earlier release (`tests/upgrades/dumps`) is loaded into a PostgreSQL of its own and filled to size. A writer
then posts in a loop: a post with its counts, a file and a mention; its notification; a changed follow; a changed account. Every
migration from then to today is applied meanwhile, and the longest time that a transaction of the writer took is printed for
each. The exit code is 1 when one of them is above the limit.
"""

from __future__ import annotations

import argparse
import json
import lzma
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import psycopg

from social.runtime.embedded import Embedded
from tests.upgrades.dump import DOMAIN, DUMPS, kept_dumps

# A row is made of one that is there, with other values in the columns that are named.
_LIKE = """
INSERT INTO {table} SELECT (jsonb_populate_record(t, jsonb_build_object({values}))).* FROM {table} t WHERE {which}
"""
_ATTEMPTS = 5


@dataclass
class Stalls:
    """When the writer began and ended each transaction, in seconds of the monotonic clock."""

    waits: list[tuple[float, float]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def longest(self, start: float, end: float) -> float:
        """The longest time that a transaction took between two moments."""
        return max((min(stop, end) - max(begun, start) for begun, stop in self.waits), default=0.0)


def fill(connection: psycopg.Connection[Any], size: int) -> None:
    """Make `size` posts of other servers and what belongs to them, in a few statements."""
    columns: dict[str, list[str]] = {}
    for table, column in connection.execute(
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        " AND is_generated = 'NEVER' ORDER BY ordinal_position"
    ):
        columns.setdefault(table, []).append(column)

    def copies(
        table: str, rows: int, values: dict[str, str], *, without: tuple[str, ...] = ("id",), source: str = ""
    ) -> None:
        """Insert rows that are like the first one of a table but for `values`; what is left out has its default."""
        began = time.monotonic()
        kept = [name for name in columns[table] if name not in without or name in values]
        names = ", ".join(f'"{name}"' for name in kept)
        chosen = ", ".join(values.get(name, f't."{name}"') for name in kept)
        source = source or f"generate_series(1, {rows}) AS number"
        connection.execute(
            f"INSERT INTO {table} ({names}) SELECT {chosen} FROM (SELECT * FROM {table} LIMIT 1) t CROSS JOIN {source}"
        )
        print(f"  {table}: {rows:,} rows, {time.monotonic() - began:.0f} s", flush=True)

    people = max(size // 20, 100)
    address = "'https://there' || number % 1000 || '.example/'"
    copies(
        "accounts_account",
        people,
        {
            "username": "'somebody' || number",
            "domain": "'there' || number % 1000 || '.example'",
            "uri": f"{address} || 'users/' || number",
            "url": f"{address} || '@' || number",
        },
    )
    connection.execute(
        "CREATE TABLE bench_people AS SELECT row_number() OVER (ORDER BY id) AS place, id"
        " FROM accounts_account WHERE domain <> ''"
    )
    connection.execute("CREATE UNIQUE INDEX ON bench_people (place)")
    joined = "generate_series(1, {rows}) AS number JOIN bench_people p ON p.place = 1 + number %% {people}"
    copies(
        "statuses_status",
        size,
        {
            "uri": f"{address} || 'posts/' || number",
            "url": "NULL",
            "local": "false",
            "account_id": "p.id",
            "thread_id": "NULL",
            "thread_path": "NULL",
            "in_reply_to_id": "NULL",
            "in_reply_to_account_id": "NULL",
            "visibility": "'public'",
        },
        source=joined.replace("%%", "%").format(rows=size, people=people),
    )
    connection.execute(
        "CREATE TABLE bench_posts AS SELECT id, account_id, created_at FROM statuses_status WHERE NOT local"
    )
    connection.execute(
        "INSERT INTO statuses_statusstat SELECT id, 0, 0, 0, 0 FROM bench_posts ON CONFLICT (status_id) DO NOTHING"
    )
    print("  statuses_statusstat", flush=True)
    alice, bob = (account for (account,) in connection.execute("SELECT id FROM accounts_account ORDER BY id LIMIT 2"))
    connection.execute(
        "INSERT INTO statuses_mediaattachment (position, type, processing, content_type, file, file_size, preview,"
        " preview_size, source, attempts, remote_url, meta, created_at, unattached_at, account_id, status_id)"
        " SELECT 0, 'image', 'done', 'image/png', '', 0, '', 0, '', 0, 'https://files.example/' || id, '{}', created_at,"
        " created_at, account_id, id FROM bench_posts"
    )
    connection.execute(
        "INSERT INTO statuses_mention (silent, account_id, status_id) SELECT false, %s, id FROM bench_posts", [bob]
    )
    connection.execute(
        "INSERT INTO notifications_notification (type, cause, filtered, created_at, account_id, from_account_id, status_id)"
        " SELECT 'mention', 'mention:' || id, false, created_at, %s, account_id, id FROM bench_posts",
        [bob],
    )
    print("  statuses_mediaattachment, statuses_mention, notifications_notification", flush=True)
    copies(
        "accounts_follow",
        people,
        {"account_id": "p.id", "target_id": str(alice), "uri": f"{address} || 'follows/' || number"},
        source="(SELECT place AS number, id FROM bench_people) p",
    )
    connection.execute("VACUUM ANALYZE")


def write(address: str, sender: Connection, done: Event) -> None:
    """Post until `done`; a transaction that fails is counted and the loop goes on. Sends None at its begin, and what it saw."""
    stalls = Stalls()
    with psycopg.connect(address, autocommit=True) as connection:

        def first(query: str) -> int:
            return int(connection.execute(query).fetchone()[0])  # type: ignore[index]  # a count is a row

        post, follow = first("SELECT max(id) FROM bench_posts"), first("SELECT max(id) FROM accounts_follow")
        people = first("SELECT max(place) FROM bench_people")
        made, number = "(SELECT max(id) FROM statuses_status)", 0
        serial = "nextval(pg_get_serial_sequence('statuses_mention', 'id'))"

        def copied(table: str, which: str, **values: str) -> str:
            pairs = ", ".join(f"'{column}', {value}" for column, value in values.items())
            return _LIKE.format(table=table, values=pairs, which=which)

        own = "timestamp_id('%s')"
        posting = (
            copied(
                "statuses_status",
                f"id = {post}",
                id=own % "statuses_status",
                uri="'https://a.example/' || gen_random_uuid()",
            ),
            copied("statuses_statusstat", f"status_id = {post}", status_id=made),
            copied(
                "statuses_mediaattachment", f"status_id = {post}", id=own % "statuses_mediaattachment", status_id=made
            ),
            copied("statuses_mention", f"status_id = {post}", id=serial, status_id=made),
        )
        notifying = copied(
            "notifications_notification",
            f"status_id = {post}",
            id=own % "notifications_notification",
            status_id=made,
            cause=f"'mention:' || {made}",
        )
        following = f"UPDATE accounts_follow SET notify = NOT notify WHERE id = {follow}"
        sender.send(None)
        while not done.is_set():
            number += 1
            changing = (
                "UPDATE accounts_account SET discoverable = NOT discoverable"
                f" WHERE id = (SELECT id FROM bench_people WHERE place = {1 + number % people})"
            )
            for statements in (posting, (notifying,), (following,), (changing,)):
                began = time.monotonic()
                try:
                    with connection.transaction():
                        for statement in statements:
                            connection.execute(statement)
                except psycopg.Error as error:
                    stalls.errors.append(str(error).splitlines()[0])
                stalls.waits.append((began, time.monotonic()))
            time.sleep(0.005)
    sender.send(stalls)


def migrate() -> dict[str, tuple[float, float]]:
    """Apply everything that is missing; when each migration began and ended."""
    from django.db import OperationalError, connection

    from social.runtime.migrating import PreparingExecutor

    found: dict[str, tuple[float, float]] = {}
    began = 0.0

    def note(action: str, migration: Any = None, fake: bool = False) -> None:
        nonlocal began
        if action == "apply_start":
            began = time.monotonic()
        elif action == "apply_success":
            found[str(migration)] = (began, time.monotonic())

    for attempt in range(1, _ATTEMPTS + 1):
        executor = PreparingExecutor(connection, note)
        try:
            executor.migrate(executor.loader.graph.leaf_nodes())
            break
        except OperationalError as error:
            # A migration that waits for who waits for it is undone, and applied by the next attempt.
            print(f"attempt {attempt}: {str(error).splitlines()[0]}", flush=True)
            if attempt == _ATTEMPTS:
                raise
    connection.close()
    return found


def main() -> int:
    """Fill, migrate, print a table."""
    parser = argparse.ArgumentParser(prog="benchmarks.migrations", description=__doc__)
    names = kept_dumps()
    parser.add_argument("--dump", choices=names, default=names[-1], help="kept dump, the oldest first (the last one)")
    parser.add_argument("--statuses", type=int, default=1_000_000)
    parser.add_argument("--limit", type=float, default=1.0, help="seconds that the writer may wait")
    arguments = parser.parse_args()
    facts = json.loads((DUMPS / f"{arguments.dump}.json").read_text())
    folder = Path(tempfile.mkdtemp(prefix="social-m-"))
    folder.chmod(0o755)
    servers = Embedded(folder)
    servers.start()
    try:
        os.environ |= servers.environment() | facts["secrets"] | {"DATA_DIR": str(folder), "LOCAL_DOMAIN": DOMAIN}
        os.environ["DJANGO_SETTINGS_MODULE"] = "social.settings.base"
        address = servers.postgres.conninfo()
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(lzma.decompress((DUMPS / f"{arguments.dump}.sql.xz").read_bytes()))
            connection.execute("SELECT set_config('search_path', 'public', false)")
            print(f"Filling {arguments.dump}.", flush=True)
            fill(connection, arguments.statuses)
        return _measure(address, arguments.limit)
    finally:
        servers.stop()
        shutil.rmtree(folder)


def _measure(address: str, limit: float) -> int:
    import django

    django.setup()
    # A process of its own: the classes of models that are made here would keep a thread waiting for the interpreter.
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    done = context.Event()
    writer = context.Process(target=write, args=(address, sender, done))
    writer.start()
    receiver.recv()
    began = time.monotonic()
    time.sleep(5.0)
    quiet_until = time.monotonic()
    try:
        found = migrate()
    finally:
        done.set()
        stalls: Stalls = receiver.recv()
        writer.join()
    quiet = stalls.longest(began, quiet_until)
    print(f"{'migration':58} {'seconds':>8} {'longest stall':>14}")
    print(f"{'(none)':58} {5.0:8.2f} {quiet:14.2f}")
    worst = 0.0
    for name, (start, end) in found.items():
        stall = stalls.longest(start, end)
        worst = max(worst, stall)
        print(f"{name:58} {end - start:8.2f} {stall:14.2f}{'  above the limit' if stall > limit else ''}")
    print(
        f"{len(stalls.waits):,} transactions, of which {len(stalls.errors)} failed",
        *dict.fromkeys(stalls.errors),
        sep="\n  ",
    )
    return int(worst > limit)


if __name__ == "__main__":
    sys.exit(main())
