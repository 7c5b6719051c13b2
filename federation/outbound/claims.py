"""Which deliveries are due, and how a process claims, finishes and releases them.

Claims are those of `social.kernel.claims`. The oldest unfinished delivery of a lane (inbox and key) comes first. A host that
fails gets one request at a time, so that a slow or dead one never holds what a healthy one needs; so does one that nothing
has arrived at yet, for Mastodon drops one of two first requests of an actor that come at once (contract, section 12).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction

from federation.models import Host, OutboundActivity
from federation.outbound.queueing import forget_delivered
from federation.outbound.retrying import Verdict, host_pause, is_last, next_attempt
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.claims import Claims, Failure, FairShare, new_token

#: Seconds: longer than the deliveries of one host in one claim can take.
LEASE: Final = 30.0
PER_HOST: Final = 20
_ERROR_LENGTH: Final = 500

_SHARE: Final = FairShare(
    table="federation_delivery",
    columns=("id", "activity_id", "inbox_url", "host", "attempts"),
    lane=("key", "inbox_url"),
    pauses="federation_host",
    one_at_a_time="(p.name IS NULL OR p.failures > 0)",
)
_claims: Final = Claims("federation_delivery")


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
    token = new_token()
    found = _claims.take_fairly(_SHARE, token, hosts=hosts, per_host=PER_HOST, lease=LEASE, busy=busy)
    rows = sorted((Claimed(*values) for values in found), key=lambda row: row.id)
    by_host: dict[str, list[Claimed]] = {}
    for row in rows:
        by_host.setdefault(row.host, []).append(row)
    activities = (
        OutboundActivity.objects.select_related("account__key_pair")
        .filter(id__one_of={row.activity_id for row in rows})
        .in_bulk()
    )
    return Batch(token, by_host, activities)


def record(token: int, results: Sequence[Result]) -> None:
    """Write what became of deliveries of a claim; those whose lease ran out meanwhile are left to their new holder."""
    if not results:
        return
    with transaction.atomic():
        mine = _claims.hold(token, [result.delivery.id for result in results])
        known = [result for result in results if result.delivery.id in mine]
        arrived = [result.delivery for result in known if result.verdict == Verdict.ARRIVED]
        _claims.finish_quickly(token, [delivery.id for delivery in arrived])
        forget_delivered({delivery.activity_id for delivery in arrived})
        _claims.release(token, [result.delivery.id for result in known if result.verdict is None])
        _claims.fail(token, [_failure(result) for result in known if result.verdict not in (None, Verdict.ARRIVED)])
        _judge_hosts(known)


def _failure(result: Result) -> Failure:
    attempts = result.delivery.attempts + 1
    dead = result.verdict is not None and is_last(result.verdict, attempts)
    delay = next_attempt(attempts).total_seconds()
    return Failure(result.delivery.id, attempts, delay, result.error, dead=dead)


def _judge_hosts(results: Sequence[Result]) -> None:
    """The last verdict of each host counts: one failure in a row more, or well again. One that was reached is known."""
    last = {result.delivery.host: result for result in results if result.verdict is not None}
    failed = {name: result for name, result in last.items() if result.verdict == Verdict.FAILED}
    now = clock.now()
    well = sorted(last.keys() - failed.keys())
    Host.objects.filter(name__one_of=well, failures__gt=0).update(failures=0, retry_at=now, last_error="")
    reached = {result.delivery.host for result in results if result.verdict == Verdict.ARRIVED}
    unknown = reached - set(Host.objects.filter(name__one_of=reached).values_list("name", flat=True))
    Host.objects.bulk_create((Host(name=name) for name in sorted(unknown)), ignore_conflicts=True, batch_size=BATCH)
    for name in sorted(failed):
        host, _created = Host.objects.select_for_update().get_or_create(name=name, defaults={"failing_since": now})
        if not host.failures:
            host.failing_since = now
        host.failures += 1
        host.retry_at = now + host_pause(host.failures, host.failing_since, now)
        host.last_error = failed[name].error.replace("\0", "")[:_ERROR_LENGTH]
        host.save(update_fields=["failures", "failing_since", "retry_at", "last_error"])
