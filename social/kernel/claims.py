"""Lets any number of processes claim rows in a table of waiting work.

A claim is a lease: a committed UPDATE that writes a token and an expiry time into rows before any work on them begins. If a
process ends, others can claim its rows once the lease has expired. If a stalled process resumes after that, it changes none of
the rows that others have claimed, because these rows have a new token. The outbox and the runner of work for other servers
choose the rows with their own statements.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Now

from social.kernel.statements import rows_of

_ERROR_LENGTH: Final = 2000

# Renewals, releases and deletions of rows that run at least once may be lost if PostgreSQL crashes, because the row is then
# merely run again. These commits therefore need not wait for the disk; the setting inside the statement saves a round trip.
_QUICK_COMMIT: Final = "quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))"


class LeasedRow(models.Model):
    """A row that waits for `due_at` and then for a process to claim it.

    `claim` is the token of the holder until `claimed_until`. `attempts` is the number of failed attempts, and `last_error` the
    error of the latest attempt. A row that was given up has been dead since `dead_at`, and is never claimed. All times come
    from the database's clock. No index may contain a column that claiming changes, so that a claim is a heap-only update and
    the indexes do not grow.
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
    """Return the condition for rows that have no unexpired claim."""
    return Q(claimed_until=None) | Q(claimed_until__lte=Now())


def new_token() -> int:
    return secrets.randbits(62)


@dataclass(frozen=True, slots=True)
class Failure:
    """Failed attempt to run a claimed row.

    The row has failed `attempts` times, and is due again in `delay` seconds unless it is dead. With `held` the claim is kept,
    because the attempt is recorded before it is made.
    """

    id: int
    attempts: int
    delay: float
    error: str
    dead: bool = False
    held: bool = False


class Claims:
    """The leases of one table of LeasedRows.

    Every method except `take` changes only rows whose claim is the given token, and returns their number (`hold`: their
    ids). If a row is not changed, its lease has expired, and another process may have claimed it.
    """

    def __init__(self, table: str) -> None:
        self._table = table

    def take(self, statement: str, token: int, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Run and commit a claiming statement with `token` among its values; return its rows. Raises RuntimeError inside a
        transaction, except that of a test case.
        """
        connection = transaction.get_connection()
        if not connection.in_atomic_block:
            # Outside a transaction the statement is its own transaction, without the two round trips for BEGIN and COMMIT.
            return rows_of(statement, {**values, "token": token})
        with transaction.atomic(durable=True):
            return rows_of(statement, {**values, "token": token})

    def renew(self, token: int, ids: Sequence[int], lease: float) -> int:
        """Extend a lease to `lease` seconds from now, unless it has expired."""
        return self._execute(
            f"WITH {_QUICK_COMMIT} UPDATE {self._table} SET claimed_until = now() + make_interval(secs => %(lease)s) FROM quick"
            " WHERE id = ANY(%(ids)s) AND claim = %(token)s AND claimed_until > now()",
            ids=ids,
            token=token,
            lease=lease,
        )

    def release(self, token: int, ids: Sequence[int]) -> int:
        """End the claim on rows, without any other change."""
        return self._execute(
            f"WITH {_QUICK_COMMIT} UPDATE {self._table} SET claim = NULL, claimed_until = NULL FROM quick"
            " WHERE id = ANY(%(ids)s) AND claim = %(token)s",
            ids=ids,
            token=token,
        )

    def finish(self, token: int, ids: Sequence[int]) -> int:
        """Delete rows whose lease has not expired; no other process can claim them until the transaction, if any, ends."""
        return self._execute(
            f"DELETE FROM {self._table} WHERE id = ANY(%(ids)s) AND claim = %(token)s AND claimed_until > now()",
            ids=ids,
            token=token,
        )

    def finish_quickly(self, token: int, ids: Sequence[int]) -> int:
        """Delete rows that are done, even if their lease has expired, unless another process has claimed them.

        A crash may undo this.
        """
        if not ids:
            return 0
        gone = rows_of(
            f"WITH {_QUICK_COMMIT} DELETE FROM {self._table} USING quick"
            " WHERE id = ANY(%(ids)s) AND claim = %(token)s RETURNING id",
            {"ids": list(ids), "token": token},
        )
        return len(gone)

    def hold(self, token: int, ids: Sequence[int]) -> set[int]:
        """Lock rows until the transaction ends; return the ids of the rows that `token` still claims."""
        if not ids:
            return set()
        with transaction.get_connection().cursor() as cursor:
            cursor.execute(
                f"SELECT id FROM {self._table} WHERE id = ANY(%(ids)s) AND claim = %(token)s ORDER BY id FOR UPDATE",
                {"ids": list(ids), "token": token},
            )
            return {number for (number,) in cursor.fetchall()}

    def fail(self, token: int, failures: Sequence[Failure]) -> int:
        """Record failed attempts and end the claims; return how many attempts were recorded. A failure with `held` does not end
        the claim, and is recorded only while the lease lasts.
        """
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
        if not values["ids"]:
            return 0
        with transaction.get_connection().cursor() as cursor:
            cursor.execute(statement, {key: list(v) if key == "ids" else v for key, v in values.items()})
            return int(cursor.rowcount)
