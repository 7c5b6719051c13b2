"""Helpers for several benchmarks: they connect to a running server's database, insert rows, and wait until a server is idle."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from benchmarks.processes import Tree

IDLE_SECONDS: Final = 0.5


def attach(data_dir: Path) -> None:
    """Configure Django in this process for the PostgreSQL and Valkey that run in this data directory."""
    from social.runtime.embedded import Embedded

    os.environ |= {"DATA_DIR": str(data_dir), "DJANGO_SETTINGS_MODULE": "social.settings.base"}
    os.environ |= {"LOG_LEVEL": "error", **Embedded(data_dir).environment()}
    import django

    django.setup()


def wait_until_idle(tree: Tree) -> float:
    """Wait until the server has been idle for IDLE_SECONDS; return the CPU seconds that it has used."""
    while True:
        before = tree.cpu()
        time.sleep(IDLE_SECONDS)
        if tree.cpu() - before < 0.04:
            return before


def _default(field: Any) -> str:
    """Return the default value of a column as SQL."""
    value = field.get_default()
    if field.get_internal_type() == "ArrayField":
        return "'{}'"
    if isinstance(value, int):
        return str(value).lower()
    return "'[]'" if value == [] else f"'{value}'"


def insert(model: Any, own: Mapping[str, str], source: str) -> None:
    """Insert a row for each row of `source`, the FROM clause of a query. `own` maps columns to expressions over the columns of
    `source`; the other columns get their defaults.
    """
    from django.db import connection
    from django.db.models.expressions import DatabaseDefault

    values = {
        field.column: _default(field)
        for field in model._meta.concrete_fields
        if not field.null and not field.primary_key and not isinstance(field.get_default(), DatabaseDefault)
    } | dict(own)
    names, expressions = ", ".join(map(connection.ops.quote_name, values)), ", ".join(values.values())
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {model._meta.db_table} ({names}) SELECT {expressions} FROM {source}")
