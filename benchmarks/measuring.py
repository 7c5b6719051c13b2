"""Helpers of several benchmarks: a running server's database, repeated requests, inserted rows, waiting for an idle server."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.processes import Tree

IDLE_SECONDS: Final = 0.5


def attach(server: Any) -> None:
    """Configure Django in this process for the PostgreSQL and Valkey of a running `tests.support.instance.Instance`."""
    from social.runtime.embedded import Embedded

    os.environ |= {"DATA_DIR": str(server.data_dir), "DJANGO_SETTINGS_MODULE": "social.settings.base"}
    os.environ |= {"LOG_LEVEL": "error", **Embedded(server.data_dir).environment()}
    import django

    django.setup()


class Repeated(threading.Thread):
    """A thread that repeats a request at most twenty times a second from its creation on, and records the maximum memory of the
    server's worker.
    """

    def __init__(self, name: str, request: Callable[[], object], server: Any) -> None:
        super().__init__(name=name, daemon=True)
        self._request, self._tree = request, Tree(server)
        self._ended = threading.Event()
        self.times: list[float] = []
        self.memory = 0.0
        self.start()

    def run(self) -> None:
        while not self._ended.wait(0.05):
            began = time.monotonic()
            self._request()
            self.times.append((time.monotonic() - began) * 1000)
            if len(self.times) % 20 == 0:
                self.memory = max(self.memory, self._tree.memory().own["worker"])

    def stop(self) -> None:
        """Stop the thread, and print the response times and the memory."""
        self._ended.set()
        self.join()
        found = sorted(self.times)
        shares = ", ".join(f"p{share} {found[len(found) * share // 100]:.0f}" for share in (50, 95, 99))
        print(
            f"  {self.name}: {shares}, most {found[-1]:.0f} ms of {len(found)}; worker {self.memory:.0f} MiB of its own",
            flush=True,
        )


@contextmanager
def meanwhile(name: str, *requests: Repeated) -> Iterator[None]:
    """Print how long the block takes, then stop the requests that were repeated meanwhile."""
    began = time.monotonic()
    yield
    print(f"{name}: {time.monotonic() - began:.0f} s")
    for each in requests:
        each.stop()


def wait_until_idle(tree: Tree) -> float:
    """Wait until the server has been idle for IDLE_SECONDS; return the CPU seconds that it has used."""
    while True:
        before = tree.cpu()
        time.sleep(IDLE_SECONDS)
        if tree.cpu() - before < 0.04:
            return before


def literal(value: Any) -> str:
    """Return the default value of a column as SQL."""
    if isinstance(value, int):
        return str(value).lower()
    return "'[]'" if value == [] else f"'{value}'"


def columns(model: Any, own: Mapping[str, str]) -> dict[str, str]:
    """Return an SQL expression for every column that must have a value: those in `own`, and the defaults of the others."""
    from django.db.models.expressions import DatabaseDefault

    defaults = {
        field.column: "'{}'" if field.get_internal_type() == "ArrayField" else literal(field.get_default())
        for field in model._meta.concrete_fields
        if not field.null and not field.primary_key and not isinstance(field.get_default(), DatabaseDefault)
    }
    return defaults | own


def insert(model: Any, own: Mapping[str, str], source: str, parameters: Sequence[Any] = ()) -> None:
    """Insert a row for each row of `source`, which is the FROM clause of a query; `own` are expressions over its columns."""
    from django.db import connection

    values = columns(model, own)
    names = ", ".join(map(connection.ops.quote_name, values))
    with connection.cursor() as cursor:
        statement = f"INSERT INTO {model._meta.db_table} ({names}) SELECT {', '.join(values.values())} FROM {source}"
        cursor.execute(statement, parameters or None)
