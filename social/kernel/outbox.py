"""The outbox: events that were committed with their change and whose reactions have not all run yet."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast

from django.db import connection, models, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from social.kernel.claims import LeasedRow, idle
from social.kernel.drains import drain as drain
from social.kernel.errors import Conflict
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths
from social.kernel.ports import audit_log
from social.kernel.wakes import wake as wake

logger = logging.getLogger("social.outbox")
OVERDUE: Final = timedelta(seconds=2)


class OutboxRow(LeasedRow):
    """Event for one subscriber, deleted when its reaction is done. Rows are written and claimed in SQL, with the database's
    clock: `social.kernel.events` inserts, `social.kernel.drains` claims. `id` gives the order of the rows of one queue and key.
    """

    id = models.BigAutoField(primary_key=True)
    queue = models.TextField()
    key = models.TextField()
    subscriber = models.TextField()
    event = models.TextField()
    payload = models.JSONField()

    class Meta:
        db_table = "social_outbox"
        verbose_name = _("outbox row")
        verbose_name_plural = _("outbox rows")
        constraints = [
            lengths(
                "social_outboxrow_lengths",
                last_error=MESSAGE_LIMIT,
                queue=WORD_LIMIT,
                key=URI_LIMIT,
                subscriber=NAME_LIMIT,
                event=NAME_LIMIT,
                payload=OBJECT_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["queue", "due_at", "id"], condition=Q(dead_at__isnull=True), name="outbox_due"),
            models.Index(fields=["queue", "key", "id"], name="outbox_lane"),
            models.Index(fields=["dead_at"], condition=Q(dead_at__isnull=False), name="outbox_dead"),
        ]

    def __str__(self) -> str:
        return f"{self.event} for {self.subscriber}"

    @property
    def name(self) -> str:
        """The name of a row in lists."""
        return f"{self} ({self.key})"


@dataclass(frozen=True)
class QueueFigures:
    """Figures of a queue. `oldest` and `p99`: maximum and 99th percentile of the seconds since rows became due, not counting
    dead rows.
    """

    queue: str
    depth: int
    dead: int
    oldest: float
    p99: float


# Finds the queues one by one through the index, instead of reading all waiting rows.
_OVERDUE_QUEUES: Final = """
WITH RECURSIVE q AS (
    SELECT min(queue) AS queue FROM social_outbox
    UNION ALL
    SELECT (SELECT min(queue) FROM social_outbox WHERE queue > q.queue) FROM q WHERE q.queue IS NOT NULL
)
SELECT queue FROM q
WHERE queue IS NOT NULL AND EXISTS (
    SELECT FROM social_outbox o
    WHERE o.queue = q.queue AND o.due_at < now() - %s AND o.dead_at IS NULL
      AND (o.claimed_until IS NULL OR o.claimed_until <= now())
)
"""
_MEASURE: Final = """
SELECT queue, count(*) FILTER (WHERE dead_at IS NULL AND due_at <= now()), count(*) FILTER (WHERE dead_at IS NOT NULL),
       COALESCE(extract(epoch FROM now() - min(due_at) FILTER (WHERE dead_at IS NULL AND due_at <= now())), 0)::float8,
       COALESCE(extract(epoch FROM now() - percentile_disc(0.01) WITHIN GROUP (ORDER BY due_at)
                FILTER (WHERE dead_at IS NULL AND due_at <= now())), 0)::float8
FROM social_outbox GROUP BY queue ORDER BY queue
"""


def overdue_queues() -> list[str]:
    """Return the queues with an unclaimed row that has been due for OVERDUE.

    The wake-up for an overdue row was lost, the process that had claimed it died, or there was no wake-up because the row had a
    due time (a retry, the end of a poll).
    """
    with connection.cursor() as cursor:
        cursor.execute(_OVERDUE_QUEUES, cast(Any, [OVERDUE]))
        return [name for (name,) in cursor.fetchall()]


def measure() -> list[QueueFigures]:
    """Return the figures of each queue that has rows. Reads the whole table."""
    with connection.cursor() as cursor:
        cursor.execute(_MEASURE)
        return [QueueFigures(*row) for row in cursor.fetchall()]


def retry(ids: Sequence[int] | None = None, *, by: Any) -> int:
    """Make rows due now, with the full number of attempts: the dead or backing-off rows `ids`, or all dead rows if `ids` is
    None. Return the number of these rows.

    The queues of the rows are woken after commit. Claimed rows are left alone. Writes the audit log: `by` is the user, None for
    the operator.
    """
    with transaction.atomic():
        rows = OutboxRow.objects.filter(idle())
        rows = rows.filter(dead_at__isnull=False) if ids is None else rows.filter(id__one_of=ids)
        chosen = list(rows.select_for_update().order_by("id").only("event", "subscriber", "key", "queue"))
        OutboxRow.objects.filter(id__one_of=[row.id for row in chosen]).update(
            dead_at=None, attempts=0, due_at=Now(), claim=None, claimed_until=None
        )
        if chosen:
            targets = [(0, "all dead rows")] if ids is None else [(row.id, row.name) for row in chosen]
            audit_log.get()(by=by, action="retry", target_type="OutboxRow", targets=targets, count=len(chosen))
        transaction.on_commit(lambda: wake(*sorted({row.queue for row in chosen})), robust=True)
    return len(chosen)


def discard(row_id: int, *, by: Any) -> bool:
    """Delete a row without running its reaction; return False when there is none. The row is logged in full. Writes the
    audit log: `by` is the user, None for the operator. Raises Conflict while a process has claimed the row.
    """
    with transaction.atomic():
        row = OutboxRow.objects.select_for_update().filter(id=row_id).first()
        if row is None:
            return False
        if not OutboxRow.objects.filter(idle(), id=row_id).exists():
            raise Conflict
        logger.warning(
            "Outbox row %d discarded by hand: %s %s for %s, queue %s, key %r, last error: %s",
            *(row.id, row.event, row.payload, row.subscriber, row.queue, row.key, row.last_error),
        )
        details = {"queue": row.queue, "payload": row.payload, "last_error": row.last_error}
        targets = [(row.id, row.name)]
        audit_log.get()(by=by, action="discard", target_type="OutboxRow", targets=targets, **details)
        row.delete()
        transaction.on_commit(lambda: wake(row.queue), robust=True)
    return True
