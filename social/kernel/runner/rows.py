"""Rows of queued work for other servers, and the state of those servers."""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import ClassVar, Final, Self, TypeVar

from django.db import models, transaction
from django.db.models import Count, F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.claims import LeasedRow
from social.kernel.events import Event, publish
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, WORD_LIMIT, lengths
from social.kernel.terms import TERMS, TURN_LENGTH, TURNS_LIMIT

logger = logging.getLogger("social.runner")

_ERROR_LENGTH: Final = 500
_KEPT_TROUBLES: Final = timedelta(days=1)

# Finds the hosts one by one through the index, instead of reading all waiting rows; the rows of a host are found by the same
# index, oldest first. When two processes find that the pace of a host allows a row, the first one to write `asked_at` gets the
# host. A row whose lease has expired counts one more attempt, so that even a row whose work kills the process is eventually
# given up.
_CLAIM: Final = """
WITH RECURSIVE hop AS (
    SELECT min(host) AS host FROM {table} WHERE dead_at IS NULL
    UNION ALL
    SELECT (SELECT min(host) FROM {table} WHERE dead_at IS NULL AND host > hop.host) FROM hop WHERE hop.host IS NOT NULL
), free AS (
    SELECT hop.host, p.asked_at, COALESCE(p.failures, %(unknown)s) > 0 AS failing
    FROM hop LEFT JOIN social_host p ON p.queue = %(queue)s AND p.name = hop.host
    WHERE hop.host IS NOT NULL AND hop.host <> ALL(%(busy)s)
      AND (p.retry_at IS NULL OR p.retry_at <= statement_timestamp())
      AND (p.asked_at IS NULL OR p.asked_at <= statement_timestamp() - make_interval(secs => %(pace)s::float8))
      AND NOT (COALESCE(p.failures, %(unknown)s) > 0
               AND EXISTS (SELECT FROM {table} o WHERE o.host = hop.host AND o.dead_at IS NULL
                           AND o.claimed_until > statement_timestamp()))
), picked AS MATERIALIZED (
    SELECT free.host, due.ids, due.oldest FROM free CROSS JOIN LATERAL (
        SELECT array_agg(id) AS ids, min(due_at) AS oldest FROM (
            SELECT d.id, d.due_at FROM {table} d
            WHERE d.host = free.host AND d.dead_at IS NULL AND d.due_at <= statement_timestamp()
              AND (d.claimed_until IS NULL OR d.claimed_until <= statement_timestamp()) AND {first_of_key}
            ORDER BY d.due_at, d.id LIMIT CASE WHEN free.failing THEN 1 ELSE %(per_host)s END
        ) AS first
    ) AS due WHERE due.ids IS NOT NULL ORDER BY free.asked_at NULLS FIRST, due.oldest LIMIT %(hosts)s
), paced AS (
    INSERT INTO social_host AS h (queue, name, failures, failing_since, retry_at, last_error, asked_at)
    SELECT %(queue)s, host, %(unknown)s, statement_timestamp(), statement_timestamp(), '', statement_timestamp()
    FROM picked WHERE %(pace)s::float8 > 0 ORDER BY host
    ON CONFLICT (name, queue) DO UPDATE SET asked_at = excluded.asked_at
    WHERE h.asked_at IS NULL OR h.asked_at <= excluded.asked_at - make_interval(secs => %(pace)s::float8)
    RETURNING name
), held AS (
    SELECT id FROM {table}
    WHERE id IN (SELECT unnest(ids) FROM picked WHERE %(pace)s::float8 = 0 OR host IN (SELECT name FROM paced))
      AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
    FOR UPDATE SKIP LOCKED
)
UPDATE {table} d SET claim = %(token)s, claimed_until = statement_timestamp() + make_interval(secs => %(lease)s::float8),
    attempts = d.attempts + (d.claimed_until IS NOT NULL)::int
FROM held WHERE d.id = held.id
RETURNING {columns}
"""


class WaitingRow(LeasedRow):
    """Task for one `host`; the row is deleted when the task is done.

    `queue` names its terms and the queue of its event `due`. With an `ordering_key` (columns) only the oldest row of each
    key is started. A dead row is kept for a while, during which the same task cannot be added again.
    """

    objects: ClassVar[models.Manager[Self]]
    queue: ClassVar[str]
    due: ClassVar[type[Event]]
    ordering_key: ClassVar[Sequence[str]] = ()

    host = models.TextField()

    class Meta:
        abstract = True
        indexes = [
            models.Index(
                F("host"), F("due_at"), F("id"), name="%(app_label)s_%(class)s_due", condition=Q(dead_at__isnull=True)
            ),
            models.Index(fields=["dead_at"], name="%(app_label)s_%(class)s_dead", condition=Q(dead_at__isnull=False)),
        ]

    @property
    def asker(self) -> str:
        """The local account or server on whose behalf the task is done; empty if such rows are not limited per asker."""
        return ""

    @classmethod
    def count_wanted(cls, askers: set[str]) -> Counter[str]:
        """Return how many rows are waiting on behalf of each of these askers."""
        return Counter()


class WantedRow(WaitingRow):
    """Task about an object that was named by a party other than its `host`: `wanted_by` is a local account or another server,
    and empty for objects that the host itself has named.
    """

    wanted_by = models.TextField(default="", db_default="")

    class Meta(WaitingRow.Meta):
        abstract = True
        indexes = [
            *WaitingRow.Meta.indexes,
            models.Index(
                fields=["wanted_by"],
                name="%(app_label)s_%(class)s_wanted",
                condition=Q(dead_at__isnull=True) & ~Q(wanted_by=""),
            ),
        ]

    @property
    def asker(self) -> str:
        return self.wanted_by

    @classmethod
    def count_wanted(cls, askers: set[str]) -> Counter[str]:
        wanted = cls.objects.filter(wanted_by__one_of=askers, dead_at=None).exclude(wanted_by="")
        return Counter(dict(wanted.values_list("wanted_by").annotate(Count("id"))))


R = TypeVar("R", bound=WaitingRow)


@cache
def claiming_statement(model: type[WaitingRow]) -> str:
    """Return the SQL of a claim, which returns all columns; `Run.claim` supplies its parameters."""
    table = model._meta.db_table
    same_key = " AND ".join(f"e.{column} = d.{column}" for column in model.ordering_key)
    earlier = f"SELECT FROM {table} e WHERE {same_key} AND e.id < d.id AND e.dead_at IS NULL"
    return _CLAIM.format(
        table=table,
        columns=", ".join(f"d.{field.column}" for field in model._meta.concrete_fields),
        first_of_key=f"NOT EXISTS ({earlier})" if model.ordering_key else "TRUE",
    )


def enqueue(*rows: R, due_at: datetime | None = None) -> list[R]:
    """Add rows of one kind of work, due at `due_at`, and publish their event; return the rows that were not left out. A task
    that already has a row is not added again.

    A row is left out if its host, or the account or server that asks for it (`asker`), already has the maximum number of
    waiting rows (TERMS, TURNS_LIMIT). Therefore no asker can fill the queue with objects from one slow server, or from a
    thousand servers. The rows of one asker become due in turns, so that the rows of other askers run in between. The number of
    statements is fixed.
    """
    if not rows:
        return []
    model, terms = type(rows[0]), TERMS[type(rows[0]).queue]
    there = model.objects.filter(host__one_of={row.host for row in rows}, dead_at=None)
    waiting = Counter(dict(there.values_list("host").annotate(Count("id"))))
    askers = {row.asker for row in rows} - {""}
    wanted = model.count_wanted(askers) if askers else Counter[str]()
    taken = []
    for row in rows:
        turn = wanted[row.asker] // terms.per_asker
        if waiting[row.host] >= terms.waiting or turn >= TURNS_LIMIT:
            logger.info("%s is left out: too much waits for %s", row, row.host if turn < TURNS_LIMIT else row.asker)
            continue
        waiting[row.host] += 1
        wanted[row.asker] += bool(row.asker)
        if due_at is not None or turn:
            row.due_at = (due_at or clock.now()) + turn * TURN_LENGTH
        taken.append(row)
    if taken:
        with transaction.atomic():
            model.objects.bulk_create(taken, ignore_conflicts=True, batch_size=BATCH)
            publish(model.due(), due_at=due_at)
    return taken


class Host(models.Model):
    """State of a server, by its name and port, for the work of one queue.

    `failures` is the number of consecutive failures since `failing_since`, 0 for a server that answers. Until `retry_at` the
    server is paused; afterwards a single request probes it (contract, federation section 12). `asked_at` is the time of the
    last claim of a row, if the terms have a pace.
    """

    queue = models.TextField()
    name = models.TextField()
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(default=clock.now)
    retry_at = models.DateTimeField(default=clock.now)
    last_error = models.TextField(default="")
    asked_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "social_host"
        verbose_name = _("troubled server")
        verbose_name_plural = _("troubled servers")
        constraints = [
            lengths("social_host_lengths", queue=WORD_LIMIT, name=HOST_LIMIT, last_error=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["name", "queue"], name="social_host_once"),
        ]

    def __str__(self) -> str:
        return self.name


def record_answers(queue: str, answers: Mapping[str, str], reached: set[str]) -> None:
    """Store each host's latest answer: "" for a success, otherwise the error, which counts as one more failure.

    If the terms are cautious, the hosts in `reached` are stored as known.
    """
    terms, now, hosts = TERMS[queue], clock.now(), Host.objects.filter(queue=queue)
    failing = {name for name, wrong in answers.items() if wrong}
    if names := failing | reached if terms.cautious else failing:
        unknown = names - set(hosts.filter(name__one_of=names).values_list("name", flat=True))
        made = [Host(queue=queue, name=name) for name in sorted(unknown)]
        Host.objects.bulk_create(made, ignore_conflicts=True, batch_size=BATCH)
    changed = hosts.filter(Q(name__one_of=failing) | Q(name__one_of=answers.keys() - failing, failures__gt=0))
    # The rows are locked in the order of their names, so that two processes cannot deadlock.
    for host in changed.order_by("name").select_for_update():
        host.last_error = answers[host.name].replace("\0", "")[:_ERROR_LENGTH]
        if host.name in failing:
            host.failing_since = host.failing_since if host.failures else now
            host.failures += 1
            host.retry_at = now + terms.host_pause(host.failures, host.failing_since, now)
        else:
            host.failures, host.retry_at = 0, now
        host.save(update_fields=["failures", "failing_since", "retry_at", "last_error"])


def is_paused(queue: str, name: str) -> bool:
    return Host.objects.filter(queue=queue, name=name, failures__gt=0, retry_at__gt=Now()).exists()


def forget_troubles(queue: str) -> None:
    """Delete hosts whose pause ended more than a day ago, because anybody can name hosts that do not exist. If the terms are
    cautious, the hosts are kept.
    """
    if not TERMS[queue].cautious:
        old = clock.now() - _KEPT_TROUBLES
        Host.objects.filter(Q(asked_at=None) | Q(asked_at__lt=old), queue=queue, retry_at__lt=old).delete()
