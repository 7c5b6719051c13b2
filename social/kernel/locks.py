"""Locks on names (PostgreSQL's advisory locks) and on rows, which last until the transaction ends, and leases, which their
holder renews before they expire.

Foreign keys are checked when a transaction commits. Therefore a service that deletes a row to which other rows refer locks the
row first (`lock_row`, `delete_rows`), and a service that writes a row referring to it calls `keep_row` first. One of the
services then waits for the other, and sees its changes.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final, TypeVar

from django.db import OperationalError, connection, models, transaction
from psycopg import sql
from psycopg.errors import LockNotAvailable

from social.kernel.errors import NotFound, require_found
from social.kernel.lengths import NAME_LIMIT, lengths

Row = TypeVar("Row", bound=models.Model)
# The rows are locked in the order of their ids, because two callers could otherwise deadlock.
_KEEP: Final = sql.SQL("SELECT {key} FROM {table} WHERE {key} = ANY(%s) ORDER BY {key} FOR KEY SHARE")


def _numbers(names: tuple[str, ...]) -> list[int]:
    digests = {int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True) for name in names}
    # The names are sorted, so that two callers with the same names cannot deadlock.
    return sorted(digests)


def _require_transaction(names: tuple[str, ...]) -> None:
    if not connection.in_atomic_block:
        raise RuntimeError(f"The lock {', '.join(names)} needs a transaction: it is held until that ends.")


def lock(*names: str) -> None:
    """Wait until this transaction alone holds the locks of all `names`, which are released when the transaction ends, even by a
    crash.

    Names such as `status:12` are hashed to 64 bits, so transactions that lock different names may, very rarely, wait for each
    other. Raises RuntimeError outside a transaction, where the lock would be released immediately.
    """
    _require_transaction(names)
    with connection.cursor() as cursor:
        # `unnest` keeps the order of the array.
        cursor.execute("SELECT pg_advisory_xact_lock(number) FROM unnest(%s::bigint[]) number", [_numbers(names)])


def try_lock(name: str) -> bool:
    """Take a `lock` without waiting; return False when another transaction holds it. Raises the errors of `lock`."""
    _require_transaction((name,))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", _numbers((name,)))
        row = cursor.fetchone()
    return bool(row and row[0])


def lock_within(name: str, seconds: float) -> bool:
    """Take a `lock`, waiting `seconds` at most; return False when another transaction holds it longer.

    Raises the errors of `lock`.
    """
    _require_transaction((name,))
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, TRUE)", [f"{round(seconds * 1000)}ms"])
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", _numbers((name,)))
            cursor.execute("SET LOCAL lock_timeout TO DEFAULT")
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            return False
        raise
    return True


def lock_row(row: Row) -> Row:
    """Read a row again and lock it until the transaction ends. Raises NotFound when it is gone."""
    return require_found(type(row)._default_manager.select_for_update().filter(pk=row.pk).first())


def keep_row(row: models.Model) -> None:
    """Prevent a row from being deleted until the transaction ends. Raises NotFound when it is gone."""
    if not keep_rows(type(row), [row.pk]):
        raise NotFound


def keep_rows(model: type[models.Model], ids: Iterable[int]) -> set[int]:
    """Prevent these rows from being deleted until the transaction ends; return the ids of the rows that exist."""
    names = {"table": sql.Identifier(model._meta.db_table), "key": sql.Identifier(str(model._meta.pk.column))}
    with connection.cursor() as cursor:
        cursor.execute(_KEEP.format(**names), [list(ids)])
        return {number for (number,) in cursor.fetchall()}


def delete_rows(rows: models.QuerySet[Row]) -> int:
    """Delete `rows` and all rows that refer to them, in one transaction; return the number of `rows`."""
    with transaction.atomic():
        ids = list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk", flat=True))
        rows.model._default_manager.filter(pk__one_of=ids).delete()
    return len(ids)


class Lease(models.Model):
    """Lease on a task that only one process may do at a time, such as sending the schedule. Rows are written in SQL, with the
    database's clock alone, because the clocks of the holders may differ.
    """

    name = models.TextField(primary_key=True)
    holder = models.TextField()
    until = models.DateTimeField()

    class Meta:
        db_table = "social_lease"
        constraints = [lengths("social_lease_lengths", name=NAME_LIMIT, holder=NAME_LIMIT)]


_ACQUIRE = """
INSERT INTO social_lease AS l (name, holder, until)
VALUES (%(name)s, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
WHERE l.holder = EXCLUDED.holder OR l.until <= clock_timestamp()
RETURNING TRUE
"""


def acquire(name: str, holder: str, seconds: float) -> bool:
    """Take or renew the lease for `seconds`; return False while another holder's lease has not expired. The holder must
    renew the lease well before its end, and stop when a renewal did not succeed in time.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ACQUIRE, {"name": name, "holder": holder, "seconds": seconds})
        return cursor.fetchone() is not None


def release(name: str, holder: str) -> None:
    """End the lease early, if `holder` still has it."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM social_lease WHERE name = %s AND holder = %s", [name, holder])
