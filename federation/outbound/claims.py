"""Knows which deliveries are due, and how a process takes them in hand and ticks them off.

A claim is a lease, committed before anything is sent: who dies leaves deliveries that are due again when it is over.
The oldest unfinished one of a lane (inbox and key) comes first, and a host that fails gets one request at a time; so a
slow or dead host never holds what a healthy one needs.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection, transaction

from federation.models import Delivery, Host, OutboundActivity
from federation.outbound.queueing import forget_delivered
from federation.outbound.retrying import ATTEMPTS, Verdict, host_pause, next_attempt
from social.kernel import clock

#: Seconds: longer than the deliveries of one host in one claim can take.
LEASE: Final = 30.0
PER_HOST: Final = 20
_ERROR_LENGTH: Final = 500

# Hops from host to host by the index instead of reading the backlog; a host's own rows are found by the same index.
_CLAIM: Final = """
WITH RECURSIVE hop AS (
    SELECT min(host) AS host FROM federation_delivery WHERE given_up_at IS NULL
    UNION ALL
    SELECT (SELECT min(host) FROM federation_delivery WHERE given_up_at IS NULL AND host > hop.host)
    FROM hop WHERE hop.host IS NOT NULL
), free AS (
    SELECT hop.host, h.name IS NOT NULL AS failing
    FROM hop LEFT JOIN federation_host h ON h.name = hop.host
    WHERE hop.host IS NOT NULL AND hop.host <> ALL(%(busy)s) AND (h.retry_at IS NULL OR h.retry_at <= statement_timestamp())
), picked AS MATERIALIZED (
    SELECT free.host, due.ids, due.oldest FROM free CROSS JOIN LATERAL (
        SELECT array_agg(id) AS ids, min(due_at) AS oldest FROM (
            SELECT d.id, d.due_at FROM federation_delivery d
            WHERE d.host = free.host AND d.given_up_at IS NULL AND d.due_at <= statement_timestamp()
              AND (d.claimed_until IS NULL OR d.claimed_until <= statement_timestamp())
              AND NOT EXISTS (SELECT FROM federation_delivery e WHERE e.key = d.key AND e.inbox_url = d.inbox_url
                              AND e.id < d.id AND e.given_up_at IS NULL)
            ORDER BY d.due_at, d.id LIMIT CASE WHEN free.failing THEN 1 ELSE %(per_host)s END
        ) AS first
    ) AS due WHERE due.ids IS NOT NULL ORDER BY due.oldest LIMIT %(hosts)s
), held AS (
    SELECT id FROM federation_delivery
    WHERE id IN (SELECT unnest(ids) FROM picked) AND (claimed_until IS NULL OR claimed_until <= statement_timestamp())
    FOR UPDATE SKIP LOCKED
)
UPDATE federation_delivery d SET claim = %(token)s, claimed_until = statement_timestamp() + make_interval(secs => %(lease)s)
FROM held WHERE d.id = held.id
RETURNING d.id, d.activity_id, d.inbox_url, d.host, d.attempts
"""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery in this process's hands."""

    id: int
    activity_id: int
    inbox_url: str
    host: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a delivery; `verdict` None for one that was not tried."""

    delivery: Claimed
    verdict: Verdict | None
    error: str = ""


@dataclass(frozen=True)
class Batch:
    """The deliveries of one claim, by host in the order they go out, and their activities."""

    token: int
    by_host: Mapping[str, Sequence[Claimed]]
    activities: Mapping[int, OutboundActivity]


def claim(hosts: int, busy: Collection[str] = ()) -> Batch:
    """Take what is due for up to `hosts` hosts that are not `busy`, committed."""
    token = secrets.randbits(62)
    values: dict[str, Any] = {"busy": list(busy), "hosts": hosts, "per_host": PER_HOST, "token": token, "lease": LEASE}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CLAIM, values)
        rows = sorted((Claimed(*row) for row in cursor.fetchall()), key=lambda row: row.id)
    by_host: dict[str, list[Claimed]] = {}
    for row in rows:
        by_host.setdefault(row.host, []).append(row)
    activities = OutboundActivity.objects.select_related("account__key_pair").in_bulk({row.activity_id for row in rows})
    return Batch(token, by_host, activities)


def record(token: int, results: Sequence[Result]) -> None:
    """Write what became of deliveries of a claim; those whose lease ran out meanwhile are left to their new holder."""
    if not results:
        return
    with transaction.atomic():
        mine = {
            delivery.id: delivery
            for delivery in Delivery.objects.select_for_update()
            .filter(id__in=[result.delivery.id for result in results], claim=token)
            .order_by("id")
        }
        known = [result for result in results if result.delivery.id in mine]
        arrived = [result for result in known if result.verdict == Verdict.ARRIVED]
        Delivery.objects.filter(id__in=[result.delivery.id for result in arrived]).delete()
        forget_delivered({result.delivery.activity_id for result in arrived})
        _write_failures([(mine[result.delivery.id], result) for result in known if result.verdict != Verdict.ARRIVED])
        _judge_hosts(known)


def _write_failures(rows: Iterable[tuple[Delivery, Result]]) -> None:
    now = clock.now()
    changed = []
    for delivery, result in rows:
        delivery.claim = delivery.claimed_until = None
        if result.verdict is not None:
            delivery.attempts += 1
            delivery.last_error = result.error.replace("\0", "")[:_ERROR_LENGTH]
            delivery.due_at = now + next_attempt(delivery.attempts)
            if result.verdict == Verdict.REFUSED or delivery.attempts >= ATTEMPTS:
                delivery.given_up_at = now
        changed.append(delivery)
    fields = ["claim", "claimed_until", "attempts", "last_error", "due_at", "given_up_at"]
    Delivery.objects.bulk_update(changed, fields, batch_size=500)


def _judge_hosts(results: Iterable[Result]) -> None:
    """The last verdict of each host counts: one failure in a row more, or well again."""
    last = {result.delivery.host: result for result in results if result.verdict is not None}
    failed = {name: result for name, result in last.items() if result.verdict == Verdict.FAILED}
    well = sorted(last.keys() - failed.keys())
    if well:
        Host.objects.filter(name__in=well).delete()
    now = clock.now()
    for name in sorted(failed):
        host, _created = Host.objects.select_for_update().get_or_create(name=name, defaults={"failing_since": now})
        host.failures += 1
        host.retry_at = now + host_pause(host.failures, host.failing_since, now)
        host.last_error = failed[name].error.replace("\0", "")[:_ERROR_LENGTH]
        host.save(update_fields=["failures", "retry_at", "last_error"])
