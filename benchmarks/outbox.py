"""Measures the outbox: drains of several processes against a backlog, with and without processes being killed.

    python benchmarks/outbox.py [--rows 50000] [--keys 1000] [--drains 3] [--no-kills] [--quick-disk] [--json]

It starts PostgreSQL and Valkey of its own in a temporary directory. Three runs: an empty reaction in its own transaction
(`database=True`), an empty reaction outside any, and a reaction that writes one row per event while random drains are
killed with -9 and started again. After the last one it is checked that every event had exactly one effect, in order per
key; the exit code is 1 when not. Prints rows/s and CPU milliseconds per 1,000 rows of the drains and of PostgreSQL.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
QUEUES = ("database", "plain", "effects")


@dataclass(frozen=True)
class Figures:
    """What one run cost."""

    run: str
    rows: int
    seconds: float
    rows_per_second: float
    drain_cpu_ms_per_1000: float
    postgres_cpu_ms_per_1000: float
    kills: int
    correct: bool | None


def start(durable: bool) -> tuple[Any, Path]:
    """Servers, settings and tables."""
    from social.runtime.embedded import Embedded, generate_secrets

    folder = Path(tempfile.mkdtemp(prefix="social-bench-"))
    folder.chmod(0o755)
    generate_secrets(folder)
    embedded = Embedded(folder, durable=durable)
    embedded.start()
    os.environ |= {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "social.settings.test", "LOG_LEVEL": "error"}
    os.environ |= {"LOCAL_DOMAIN": "bench.localhost", "LOG_FORMAT": "console", **embedded.environment()}
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    call_command("migrate", "social", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_effect (id bigserial PRIMARY KEY, key text, number int)")
    return embedded, folder


def subscribe() -> type[Any]:
    """The event and its reactions, one queue each."""
    from django.db import connection

    from social.kernel.events import Event, on

    class Happened(Event, key="thing:{thing_id}"):
        thing_id: int
        number: int
        run: str

    def in_database(events: Sequence[Happened]) -> None:
        return None

    def plain(events: Sequence[Happened]) -> None:
        return None

    def effects(events: Sequence[Happened]) -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO bench_effect (key, number) SELECT * FROM unnest(%s::text[], %s::int[])",
                [[event.ordering_key() for event in events], [event.number for event in events]],
            )

    for name, reaction, database in (
        ("database", in_database, True),
        ("plain", plain, False),
        ("effects", effects, True),
    ):
        reaction.__qualname__ = reaction.__name__  # found by name in the forked drains, which inherit this registry
        on(
            Happened,
            reaction,
            queue=name,
            when=lambda event, name=name: event.run == name,
            database=database,
            seconds=1,
        )
    return Happened


def publish_backlog(event: type[Any], run: str, rows: int, keys: int) -> float:
    """Publish `rows` events over random keys, a hundred to a transaction; seconds taken."""
    from django.db import connection, transaction

    from social.kernel.events import publish

    chance = random.Random(run)
    began = time.perf_counter()
    for first in range(0, rows, 100):
        with transaction.atomic():
            publish(*(event(chance.randrange(keys), number, run) for number in range(first, min(first + 100, rows))))
    took = time.perf_counter() - began
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE social_outbox")
    connection.close()
    return took


def drain_until_empty(queue: str, lease: float, go: int) -> None:
    """The life of a forked drain process."""
    from social.kernel.outbox import drain

    os.read(go, 1)
    while True:
        if not drain(queue, 200, lease=lease):
            time.sleep(0.02)


def fork_drain(queue: str, lease: float, go: int) -> int:
    """Start a drain as a fork of this process, which holds no connection; its id."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        try:
            drain_until_empty(queue, lease, go)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    return child


def postgres_cpu(postmaster: int) -> float:
    """CPU seconds of PostgreSQL so far: the postmaster, its children now, and those that have ended."""
    import psutil

    server = psutil.Process(postmaster)
    own = server.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in server.children():
        try:
            times = child.cpu_times()
            total += times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return float(total)


def children_cpu() -> float:
    """CPU seconds of the forked drains that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def remaining(queue: str) -> int:
    """Rows left, by a connection of its own."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM social_outbox WHERE queue = %s", [queue])
        return int(cursor.fetchone()[0])


def run(postmaster: int, queue: str, rows: int, drains: int, kills: bool) -> Figures:
    """Drain the backlog of `queue`; the parent only waits (and kills)."""
    from django.db import connection

    lease = 2.0 if kills else 40.0
    chance = random.Random(7)
    reader, writer = os.pipe()
    connection.close()
    living = [fork_drain(queue, lease, reader) for _ in range(drains)]
    before, drains_before = postgres_cpu(postmaster), children_cpu()
    killed = 0
    began = time.perf_counter()
    os.write(writer, b"g" * drains)
    while True:
        time.sleep(chance.uniform(0.05, 0.25) if kills else 0.05)
        left = remaining(queue)
        connection.close()
        if not left:
            break
        if any(os.waitpid(child, os.WNOHANG) != (0, 0) for child in living):
            raise SystemExit("A drain ended by itself: see its traceback above.")
        if kills:
            victim = chance.randrange(drains)
            os.kill(living[victim], signal.SIGKILL)
            os.waitpid(living[victim], 0)
            killed += 1
            os.write(writer, b"g")
            living[victim] = fork_drain(queue, lease, reader)
    seconds = time.perf_counter() - began
    for child in living:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    time.sleep(0.2)
    used, drains_used = postgres_cpu(postmaster) - before, children_cpu() - drains_before
    os.close(reader)
    os.close(writer)
    correct = check_effects(rows) if queue == "effects" else None
    per = 1000 * 1000 / rows
    return Figures(
        f"{queue}{' with kills' if kills else ''}",
        rows,
        round(seconds, 2),
        round(rows / seconds, 1),
        round(drains_used * per, 1),
        round(used * per, 1),
        killed,
        correct,
    )


def check_effects(rows: int) -> bool:
    """Tell whether every event had exactly one effect, and each key's effects stand in the order of publishing."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT number) FROM bench_effect")
        if cursor.fetchone() != (rows, rows):
            return False
        cursor.execute(
            "SELECT count(*) FROM (SELECT number < lag(number) OVER (PARTITION BY key ORDER BY id) AS wrong"
            " FROM bench_effect) AS e WHERE wrong"
        )
        return bool(cursor.fetchone()[0] == 0)


def main() -> int:
    """Run everything; 1 when an effect is missing, doubled or out of order."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--drains", type=int, default=3)
    parser.add_argument("--no-kills", action="store_true", help="leave the killed run out")
    parser.add_argument("--quick-disk", action="store_true", help="PostgreSQL without fsync, as in the tests")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    embedded, folder = start(not options.quick_disk)
    try:
        event = subscribe()
        postmaster = embedded.processes["postgres"].pid
        results = []
        for queue in QUEUES:
            if queue == "effects" and options.no_kills:
                continue
            took = publish_backlog(event, queue, options.rows, options.keys)
            if not options.json:
                print(f"published {options.rows} rows in {took:.1f} s")
            results.append(run(postmaster, queue, options.rows, options.drains, queue == "effects"))
            if not options.json:
                print("  ".join(f"{name}={value}" for name, value in asdict(results[-1]).items()), flush=True)
        if options.json:
            print(json.dumps([asdict(result) for result in results], indent=1))
        return 0 if all(result.correct is not False for result in results) else 1
    finally:
        embedded.stop()
        shutil.rmtree(embedded.sockets, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
