"""How rows that wait in a table are claimed, held and finished by any number of processes at once.

A claim is a lease: a committed UPDATE that puts a token and a time on rows, before anything is done with them. Rows of a
process that ended can be claimed again when the time is over, and a process that comes back late changes nothing, for
the token is another one by then. The outbox, deliveries and fetches use this; each brings only its own choice of what is
claimed next.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from social.kernel.statements import fetch

_ERROR_LENGTH: Final = 2000

# A renewal, a release or the deletion of an at-least-once row may be forgotten by a crash of PostgreSQL: the row then simply
# runs again. So these commits need not wait for the disk; saying so inside the statement saves a round trip.
_QUICK: Final = "quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"

# Hops from host to host by the index instead of reading the backlog; a host's own rows are found by the same index. The
# rows of a host are asked oldest first.
_FAIR: Final = """
WITH RECURSIVE hop AS (
    SELECT min(host) AS host FROM {table} WHERE dead_at IS NULL
    UNION ALL
    SELECT (SELECT min(host) FROM {table} WHERE dead_at IS NULL AND host > hop.host) FROM hop WHERE hop.host IS NOT NULL
), free AS (
    SELECT hop.host, {failing} AS failing FROM hop {pauses}
    WHERE hop.host IS NOT NULL AND hop.host <> ALL(%(busy)s) AND {rested}
      AND NOT ({failing} AND EXISTS (SELECT FROM {table} o WHERE o.host = hop.host AND o.dead_at IS NULL
                                     AND o.claimed_until > statement_timestamp()))
), picked AS MATERIALIZED (
    SELECT free.host, due.ids, due.oldest FROM free CROSS JOIN LATERAL (
        SELECT array_agg(id) AS ids, min(due_at) AS oldest FROM (
            SELECT d.id, d.due_at FROM {table} d
            WHERE d.host = free.host AND d.dead_at IS NULL AND d.due_at <= statement_timestamp()
              AND (d.claimed_until IS NULL OR d.claimed_until <= statement_timestamp()) AND {first_of_lane}
            ORDER BY d.due_at, d.id LIMIT CASE WHEN free.failing THEN 1 ELSE %(per_host)s END
        ) AS first
    ) AS due WHERE due.ids IS NOT NULL ORDER BY due.oldest LIMIT %(hosts)s
), held AS (
    SELECT id FROM {table}
    WHERE id IN (SELECT unnest(ids) FROM picked) AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
    FOR UPDATE SKIP LOCKED
)
UPDATE {table} d SET claim = %(token)s, claimed_until = statement_timestamp() + make_interval(secs => %(lease)s::float8)
FROM held WHERE d.id = held.id
RETURNING {columns}
"""


class LeasedRow(models.Model):
    """A row that waits for `due_at` and then for a process to claim it.

    `claim` is the token of the holder until `claimed_until`. `attempts` have failed, the last one with `last_error`;
    after the last attempt the row is dead since `dead_at`, and nobody claims it. Times are those of the database.
    No index may hold a column that claiming changes: a claim is then a heap-only update, and the indexes do not grow.
    """

    due_at = models.DateTimeField(db_default=Now())
    claimed_until = models.DateTimeField(null=True)
    claim = models.BigIntegerField(null=True)
    attempts = models.SmallIntegerField(db_default=0)
    last_error = models.TextField(db_default="")
    dead_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        abstract = True


def idle() -> Q:
    """Rows that no process holds."""
    return Q(claimed_until=None) | Q(claimed_until__lte=Now())


def new_token() -> int:
    """A number that identifies one claim."""
    return secrets.randbits(62)


@dataclass(frozen=True, slots=True)
class Failure:
    """A held row whose attempt failed: it has failed `attempts` times and is due again in `delay` seconds, unless dead.

    `held` says to keep holding it: the attempt is noted before it is made.
    """

    id: int
    attempts: int
    delay: float
    error: str
    dead: bool = False
    held: bool = False


@dataclass(frozen=True)
class FairShare:
    """Which rows of a table with a `host` are claimed together: some hosts, and some rows of each.

    With `lane` (columns) only the oldest row of each lane. `pauses` is a table of hosts by `name` that fail: until its
    `retry_at` a host is left alone. `one_at_a_time` is the condition, on the row `p` of that table or its absence, under
    which a host has one row claimed at a time, by whatever process. `columns` are what is returned of a row.
    """

    table: str
    columns: Sequence[str]
    lane: Sequence[str] = ()
    pauses: str | None = None
    one_at_a_time: str = "FALSE"

    def statement(self) -> str:
        """The claim, for the parameters busy, hosts, per_host, token and lease."""
        same_lane = " AND ".join(f"e.{column} = d.{column}" for column in self.lane)
        earlier = f"SELECT FROM {self.table} e WHERE {same_lane} AND e.id < d.id AND e.dead_at IS NULL"
        return _FAIR.format(
            table=self.table,
            columns=", ".join(f"d.{column}" for column in self.columns),
            first_of_lane=f"NOT EXISTS ({earlier})" if self.lane else "TRUE",
            failing=self.one_at_a_time,
            pauses=f"LEFT JOIN {self.pauses} p ON p.name = hop.host" if self.pauses else "",
            rested="(p.retry_at IS NULL OR p.retry_at <= statement_timestamp())" if self.pauses else "TRUE",
        )


class Claims:
    """The leases of one table of LeasedRows.

    Every method but `take` changes only rows whose claim is the given token, and says how many those were: fewer than
    were named means that the lease ran out and somebody else has the rest.
    """

    def __init__(self, table: str) -> None:
        self._table = table

    def take(self, statement: str, token: int, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run a claiming statement with `token` among its values, committed; what it returns.

        Raises RuntimeError inside a transaction (tests' own excepted).
        """
        connection = transaction.get_connection()
        if not connection.in_atomic_block:
            # Outside a transaction the statement is one of its own, without the two round trips that open and end one.
            return fetch(statement, {**values, "token": token})
        with transaction.atomic(durable=True):
            return fetch(statement, {**values, "token": token})

    def take_fairly(
        self, share: FairShare, token: int, *, hosts: int, per_host: int, lease: float, busy: Collection[str] = ()
    ) -> list[tuple[Any, ...]]:
        """Claim up to `per_host` rows for each of up to `hosts` hosts that are not `busy`, for `lease` seconds."""
        values = {"busy": list(busy), "hosts": hosts, "per_host": per_host, "lease": str(lease)}
        return self.take(share.statement(), token, values)

    def renew(self, token: int, ids: Sequence[int], lease: float) -> int:
        """Have a lease that has not run out last `lease` seconds from now."""
        return self._execute(
            f"WITH {_QUICK} UPDATE {self._table} SET claimed_until = now() + make_interval(secs => %(lease)s) FROM quick"
            " WHERE id = ANY(%(ids)s) AND claim = %(token)s AND claimed_until > now()",
            ids=ids,
            token=token,
            lease=lease,
        )

    def release(self, token: int, ids: Sequence[int]) -> int:
        """Give rows back as they are."""
        return self._execute(
            f"WITH {_QUICK} UPDATE {self._table} SET claim = NULL, claimed_until = NULL FROM quick"
            " WHERE id = ANY(%(ids)s) AND claim = %(token)s",
            ids=ids,
            token=token,
        )

    def finish(self, token: int, ids: Sequence[int]) -> int:
        """Remove rows whose lease has not run out: in a transaction, nobody else can have them until it ends."""
        return self._execute(
            f"DELETE FROM {self._table} WHERE id = ANY(%(ids)s) AND claim = %(token)s AND claimed_until > now()",
            ids=ids,
            token=token,
        )

    def finish_quickly(self, token: int, ids: Sequence[int]) -> int:
        """Remove rows that are done, also when their lease ran out meanwhile but nobody took them; a crash may forget it."""
        gone = fetch(
            f"WITH {_QUICK} DELETE FROM {self._table} USING quick WHERE id = ANY(%(ids)s) AND claim = %(token)s RETURNING id",
            {"ids": list(ids), "token": token},
        )
        return len(gone)

    def hold(self, token: int, ids: Sequence[int]) -> set[int]:
        """Lock rows until the transaction ends; the ids of those that are still held."""
        with transaction.get_connection().cursor() as cursor:
            cursor.execute(
                f"SELECT id FROM {self._table} WHERE id = ANY(%(ids)s) AND claim = %(token)s ORDER BY id FOR UPDATE",
                {"ids": list(ids), "token": token},
            )
            return {number for (number,) in cursor.fetchall()}

    def fail(self, token: int, failures: Sequence[Failure]) -> int:
        """Note failed attempts and give the rows back. With `held`, only rows whose lease has not run out."""
        return self._execute(
            f"""
            UPDATE {self._table} AS r SET attempts = f.attempts, last_error = f.error,
                due_at = now() + make_interval(secs => f.delay), dead_at = CASE WHEN f.dead THEN now() END,
                claim = CASE WHEN f.held THEN r.claim END, claimed_until = CASE WHEN f.held THEN r.claimed_until END
            FROM unnest(%(ids)s::bigint[], %(attempts)s::smallint[], %(delays)s::float8[], %(errors)s::text[],
                        %(dead)s::boolean[], %(held)s::boolean[]) AS f (id, attempts, delay, error, dead, held)
            WHERE r.id = f.id AND r.claim = %(token)s AND (NOT f.held OR r.claimed_until > now())
            """,
            ids=[failure.id for failure in failures],
            attempts=[failure.attempts for failure in failures],
            delays=[failure.delay for failure in failures],
            errors=[failure.error.replace("\x00", "")[:_ERROR_LENGTH] for failure in failures],
            dead=[failure.dead for failure in failures],
            held=[failure.held for failure in failures],
            token=token,
        )

    @staticmethod
    def _execute(statement: str, **values: Any) -> int:
        with transaction.get_connection().cursor() as cursor:
            cursor.execute(statement, {key: list(v) if key == "ids" else v for key, v in values.items()})
            return int(cursor.rowcount)
