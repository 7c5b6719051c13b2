"""Parts that the measurements of large tables share: servers of their own, times, CPU milliseconds, buffers and plans."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


def start(*, postgres: Mapping[str, str] | None = None) -> tuple[Any, Path]:
    """PostgreSQL (with these settings) and Valkey in a temporary directory, this process set up for them, and tables; give
    both values to `stop`.
    """
    from social.runtime.embedded import Embedded, generate_secrets

    folder = Path(tempfile.mkdtemp(prefix="social-bench-"))
    folder.chmod(0o755)
    generate_secrets(folder)
    embedded = Embedded(folder, durable=False, postgres_settings=dict(postgres or {}))
    embedded.start()
    os.environ |= {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "social.settings.base", "LOG_LEVEL": "error"}
    os.environ |= {"LOCAL_DOMAIN": "bench.localhost", "RATE_LIMITS": "off", **embedded.environment()}
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    return embedded, folder


def stop(embedded: Any, folder: Path) -> None:
    """End what `start` started, and remove its files."""
    embedded.stop()
    shutil.rmtree(embedded.sockets, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def literal(value: Any) -> str:
    """A column's default as SQL."""
    if isinstance(value, int):
        return str(value).lower()
    return "'[]'" if value == [] else f"'{value}'"


class Processor:
    """CPU seconds of this process and of PostgreSQL."""

    def __init__(self, postmaster: int) -> None:
        import psutil

        self._server = psutil.Process(postmaster)

    def read(self) -> tuple[float, float]:
        """Both so far."""
        used = 0.0
        for process in (self._server, *self._server.children()):
            times = process.cpu_times()
            used += times.user + times.system
        return time.process_time(), used


@dataclass(frozen=True)
class Cost:
    """What a number of calls cost, each on the average; times in milliseconds."""

    p50: float
    p95: float
    worst: float
    own_cpu: float
    database_cpu: float

    @property
    def cpu(self) -> float:
        """Of both together."""
        return self.own_cpu + self.database_cpu

    def __str__(self) -> str:
        return (
            f"p50 {self.p50:6.1f} ms  p95 {self.p95:6.1f} ms  worst {self.worst:6.1f} ms   "
            f"CPU {self.own_cpu:5.1f} + {self.database_cpu:5.1f} ms (here + PostgreSQL)"
        )


def measure(processor: Processor, calls: Sequence[Callable[[], object]]) -> tuple[Cost, list[float]]:
    """Call each once; the cost, and the milliseconds of each."""
    before = processor.read()
    took = []
    for call in calls:
        began = time.perf_counter()
        call()
        took.append((time.perf_counter() - began) * 1000)
    after = processor.read()
    own, database = ((last - first) * 1000 / len(calls) for first, last in zip(before, after, strict=True))
    ordered = sorted(took)
    return Cost(statistics.median(ordered), ordered[int((len(ordered) - 1) * 0.95)], ordered[-1], own, database), took


def reads(call: Callable[[], object]) -> list[str]:
    """The reading statements of a call, ready to be explained."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as seen:
        call()
    found = [query["sql"] for query in seen.captured_queries]
    return [text.replace("%", "%%") for text in found if text.lstrip().startswith(("SELECT", "WITH"))]


def show_plans(call: Callable[[], object]) -> None:
    """The plan of each statement of a call, with its buffers."""
    from django.db import connection

    for text in reads(call):
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) " + text)
            lines = [line for (line,) in cursor.fetchall()]
        print("  --", " ".join(text.split())[:100])
        print("\n".join(f"     {line}" for line in lines))


def count_buffers(call: Callable[[], object]) -> int:
    """Pages of PostgreSQL (8 KiB) that the reading statements of a call look at, in its memory or not."""
    from django.db import connection

    total = 0
    for text in reads(call):
        with connection.cursor() as cursor:
            cursor.execute("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + text)
            (answer,) = cursor.fetchone()
        plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
        total += plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    return total


def attach(server: Any) -> None:
    """Set this process up for the PostgreSQL and Valkey of a running `tests.support.instance.Instance`."""
    from social.runtime.embedded import Embedded

    os.environ |= {"DATA_DIR": str(server.data_dir), "DJANGO_SETTINGS_MODULE": "social.settings.base"}
    os.environ |= {"LOG_LEVEL": "error", **Embedded(server.data_dir).environment()}
    import django

    django.setup()


def columns(model: Any, own: Mapping[str, str]) -> dict[str, str]:
    """Every column of a model that must have a value: its own as SQL expressions, the others from their defaults."""
    from django.db.models.expressions import DatabaseDefault

    defaults = {
        field.column: "'{}'" if field.get_internal_type() == "ArrayField" else literal(field.get_default())
        for field in model._meta.concrete_fields
        if not field.null and not field.primary_key and not isinstance(field.get_default(), DatabaseDefault)
    }
    return defaults | own


def insert(model: Any, own: Mapping[str, str], source: str, parameters: Sequence[Any] = ()) -> None:
    """Insert rows that are made of the columns of `source`, what stands behind FROM."""
    from django.db import connection

    values = columns(model, own)
    names = ", ".join(map(connection.ops.quote_name, values))
    with connection.cursor() as cursor:
        statement = f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join(values.values())} FROM {source}"
        cursor.execute(statement, parameters or None)


def make_people(first_id: int, count: int, *, name: str, active: bool = True) -> None:
    """Local accounts with users: the ids `first_id` and following; they were active now, or a month ago."""
    from accounts.models import Account, AccountStat, User

    numbers = f"generate_series({first_id}, {first_id + count - 1}) n"
    since = "now()" if active else "now() - interval '30 days'"
    insert(
        Account,
        {"id": "n", "username": f"'{name}' || n", "uri": "'https://people.example/' || n", "created_at": since},
        numbers,
    )
    insert(AccountStat, {"account_id": "n"}, numbers)
    insert(
        User,
        {
            "id": "n",
            "account_id": "n",
            "email": f"'{name}' || n || '@example.com'",
            "created_at": since,
            "active_at": since,
            "activated_at": since,
        },
        numbers,
    )


def make_tokens(first_id: int, count: int, application_id: int) -> list[str]:
    """An access token for each of the people with these ids, in their order; their addresses are confirmed."""
    from allauth.account.models import EmailAddress

    from accounts.models import AccessToken

    numbers = f"generate_series({first_id}, {first_id + count - 1}) n"
    insert(
        EmailAddress,
        {"user_id": "n", "email": "'confirmed' || n || '@example.com'", "verified": "true", "primary": "true"},
        numbers,
    )
    insert(
        AccessToken,
        {
            "user_id": "n",
            "application_id": str(application_id),
            "token": "'measured-' || n",
            "token_checksum": "encode(sha256(('measured-' || n)::bytea), 'hex')",
            "scope": "'read write'",
            "expires": "now() + interval '1 year'",
            "created": "now()",
            "updated": "now()",
        },
        numbers,
    )
    return [f"measured-{number}" for number in range(first_id, first_id + count)]
