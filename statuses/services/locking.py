"""Keeps a post from being deleted while a row that refers to it is written."""

from __future__ import annotations

from typing import Final

from django.db import connection

_HOLD: Final = "SELECT 1 FROM statuses_status WHERE id = %s AND deleted_at IS NULL FOR KEY SHARE"


def lock_status(status_id: int) -> bool:
    """Keep a post from being deleted until the caller's transaction ends; False when it is gone.

    Whatever points at a post takes this **before** it changes anything: a deletion that has begun is waited for with empty
    hands, and one that comes later sees what was added. Foreign keys are looked after at the end of a transaction only,
    when a deletion may be waiting for the counters that this transaction has changed.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HOLD, [status_id])
        return cursor.fetchone() is not None
