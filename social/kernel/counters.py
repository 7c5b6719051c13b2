"""How counters are kept in side tables: bumped in place, never below zero, in an order that cannot deadlock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Generic, TypeVar

from django.db import connection

Name = TypeVar("Name", bound=str)


class Counters(Generic[Name]):
    """The counters of a side table, by the column that names their owner; an owner without counts has no row.

    A transaction bumps last, and one that changes several tables in the order of their names: (table, id) is the order
    everywhere, so two transactions never wait for each other.
    """

    def __init__(self, table: str, owner: str, columns: Sequence[str]) -> None:
        self._statements = {
            name: f"INSERT INTO {table} ({owner}, {', '.join(columns)}) "  # noqa: S608 (constants)
            f"VALUES (%(id)s, {', '.join('GREATEST(%(by)s, 0)' if column == name else '0' for column in columns)}) "
            f"ON CONFLICT ({owner}) DO UPDATE SET {name} = GREATEST({table}.{name} + %(by)s, 0)"
            for name in columns
        }

    def bump(self, changes: Mapping[tuple[int, Name], int]) -> None:
        """Add to counters, keyed by (owner's id, counter)."""
        with connection.cursor() as cursor:
            for (owner_id, name), by in sorted(changes.items()):
                cursor.execute(self._statements[name], {"id": owner_id, "by": by})
