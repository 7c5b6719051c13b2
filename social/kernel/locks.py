"""PostgreSQL's advisory locks by name."""

from __future__ import annotations

from hashlib import blake2b

from django.db import OperationalError, transaction
from psycopg.errors import LockNotAvailable


def _numbers(names: tuple[str, ...]) -> list[int]:
    digests = {int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big", signed=True) for name in names}
    # Everybody takes several locks in the same order, or two could wait for each other.
    return sorted(digests)


def lock(*names: str) -> None:
    """Wait until this transaction alone holds every name; they are released when it ends, also by a crash.

    Names such as `status:12` are hashed to 64 bits: two names may, once in a blue moon, wait for each other needlessly.
    Raises RuntimeError outside a transaction, where the lock would be gone at once.
    """
    connection = transaction.get_connection()
    if not connection.in_atomic_block:
        raise RuntimeError(f"lock({', '.join(names)}) needs a transaction: it is held until that ends.")
    with connection.cursor() as cursor:
        for number in _numbers(names):
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def try_lock(name: str) -> bool:
    """As `lock`, without waiting: False when another transaction holds the name. Raises RuntimeError likewise."""
    connection = transaction.get_connection()
    if not connection.in_atomic_block:
        raise RuntimeError(f"try_lock({name}) needs a transaction: it is held until that ends.")
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", _numbers((name,)))
        row = cursor.fetchone()
    return bool(row and row[0])


def lock_within(name: str, seconds: float) -> bool:
    """As `lock`, waiting this long at most: False when another transaction holds the name longer. Raises RuntimeError
    likewise.
    """
    connection = transaction.get_connection()
    if not connection.in_atomic_block:
        raise RuntimeError(f"lock_within({name}) needs a transaction: it is held until that ends.")
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
