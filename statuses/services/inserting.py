"""Inserts the rows of posts and boosts, with their ids and their places in threads."""

import secrets
from datetime import timedelta
from typing import Final

from django.db import IntegrityError, connection, transaction

from social.kernel import clock
from social.kernel.ids import first_at, snowflake_at
from statuses.models import Status

PATH_LIMIT: Final = 4096
"""Maximum number of ids in a thread path, which limits how many generations a thread shows (behaviours section 7)."""

LATE: Final = timedelta(days=1)
"""Age from which a remote post counts as old when it is stored: `arrived_at` then records the time of storing."""

_ATTEMPTS: Final = 5


def insert_status(status: Status, parent: Status | None = None, *, answered_by: int | None = None) -> Status:
    """Insert the row of a post or boost, with the thread keys that follow from `parent`. A remote or imported post gets an id
    that corresponds to the post's own time, above the id of its parent or boosted post and below the id `answered_by`. If the
    id is taken, another id is tried. Raises IntegrityError for a `uri` that already exists.
    """
    if status.local and not status.from_archive:
        if parent is not None:
            # The path contains the post's own id, which is therefore needed before the insert.
            status.id = _next_id()
            _place_in_thread(status, parent)
        status.save(force_insert=True)
        return status
    if not status.local and status.created_at < clock.now() - LATE:
        status.arrived_at = clock.now()
    for attempt in range(_ATTEMPTS):
        status.id = _id_of_its_time(status, parent, answered_by)
        if parent is not None:
            _place_in_thread(status, parent)
        try:
            with transaction.atomic():
                status.save(force_insert=True)
                break
        except IntegrityError as error:
            constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", "")
            if constraint != "statuses_status_pkey" or attempt == _ATTEMPTS - 1:
                raise
    return status


def _id_of_its_time(status: Status, parent: Status | None, answered_by: int | None) -> int:
    moment = status.created_at
    if not moment.microsecond:
        # Most servers send whole seconds. The end of the second is used, so that a remote post comes after local posts of
        # the same second that may have preceded it.
        moment += timedelta(milliseconds=999)
    number = snowflake_at(min(moment, clock.now()))
    # A reply that claims to be older than the post does not make the post older.
    if answered_by is not None and first_at(status.created_at) < answered_by <= number:
        number = answered_by - 1 - secrets.randbits(16)
    after = max(parent.id if parent is not None else 0, status.reblog_of_id or 0)
    return number if number > after else after + 1 + secrets.randbits(16)


def _next_id() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT timestamp_id('statuses_status')")
        (number,) = cursor.fetchone()
    return int(number)


def _place_in_thread(status: Status, parent: Status) -> None:
    # See docs/adr/0005.
    status.thread_id = parent.thread_root_id
    status.thread_path = [*parent.path, status.id][-PATH_LIMIT:]
