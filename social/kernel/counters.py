"""Counters in side tables, which are updated in place, never below zero, and in an order that cannot deadlock."""

from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar

from django.db import connection

Name = TypeVar("Name", bound=str)

_SINGLE_CHANGES: Final = 4
"""Maximum number of changes that are written by one statement each; most transactions have two changes."""


class Counters(Generic[Name]):
    """The counters in a side table with one row per owner; an owner without counts has no row. `owner` is the column with the
    owner's id.

    A transaction changes counters last, and changes several tables in the order of their names. All rows are therefore locked
    in the order (table, id), and two transactions never deadlock. `said` maps a counter to the column with the value that
    another server has reported for it; that value, unless NULL, changes by the same amount.
    """

    def __init__(self, table: str, owner: str, columns: Sequence[Name], said: Mapping[Name, str]) -> None:
        self._statements = {
            name: f"INSERT INTO {table} ({owner}, {', '.join(columns)}) "  # noqa: S608 (constants)
            f"VALUES (%(id)s, {', '.join('GREATEST(%(by)s, 0)' if column == name else '0' for column in columns)}) "
            f"ON CONFLICT ({owner}) DO UPDATE SET {name} = GREATEST({table}.{name} + %(by)s, 0)"
            + (f", {said[name]} = {table}.{said[name]} + %(by)s" if name in said else "")
            for name in columns
        }
        # In EXCLUDED, negative changes are raised to zero; an existing row therefore reads its change from the parameters.
        changes = {name: f"(%({name})s::int[])[array_position(%(ids)s::bigint[], {table}.{owner})]" for name in columns}
        sums = ", ".join(
            [
                *(f"{name} = GREATEST({table}.{name} + {by}, 0)" for name, by in changes.items()),
                *(f"{column} = {table}.{column} + {changes[name]}" for name, column in said.items()),
            ]
        )
        self._columns = columns
        self._all = (
            f"INSERT INTO {table} ({owner}, {', '.join(columns)}) "  # noqa: S608 (constants)
            f"SELECT id, {', '.join(f'GREATEST({name}, 0)' for name in columns)} "
            f"FROM unnest(%(ids)s::bigint[], {', '.join(f'%({name})s::int[]' for name in columns)}) "
            f"WITH ORDINALITY n (id, {', '.join(columns)}, place) ORDER BY place "
            f"ON CONFLICT ({owner}) DO UPDATE SET {sums}"
        )

    def bump(self, changes: Mapping[tuple[int, Name], int]) -> None:
        """Add `changes`, keyed by (owner's id, counter), to the counters, in a limited number of statements."""
        with connection.cursor() as cursor:
            if len(changes) <= _SINGLE_CHANGES:
                for (owner_id, name), by in sorted(changes.items()):
                    cursor.execute(self._statements[name], {"id": owner_id, "by": by})
                return
            ids = sorted({owner_id for owner_id, _name in changes})
            sums: dict[str, list[int]] = {
                name: [changes.get((owner_id, name), 0) for owner_id in ids] for name in self._columns
            }
            cursor.execute(self._all, {"ids": ids, **sums})
