"""Sends due deliveries to many hosts concurrently (contract, federation section 12; DESIGN "Deliveries are fair")."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from accounts.services.domains import record_reached_hosts
from federation.documents.synchronization import HEADER
from federation.models import Delivery, OutboundActivity
from federation.outbound.queueing import forget_delivered
from federation.outbound.synchronizing import load_headers
from federation.remote.signing import signers_of
from moderation.queries.blocks import closed_among
from social.kernel.crypto import UnreadableSecret
from social.kernel.http.client import FetchError, Request, Response, Signer, fetch_async
from social.kernel.runner import Failed, Job, Steps, Work

logger = logging.getLogger("social.federation")

#: Time-out of one request, in seconds.
DEADLINE: Final = 10.0
ATTEMPTS_IN_DOUBT: Final = 4
_TEMPORARY: Final = (401, 408, 429)
# These activities are sent to blocked servers too, because they end follows.
_TYPES_SENT_TO_CLOSED_SERVERS: Final = frozenset({"Reject", "Undo"})
_HEADERS: Final = {"Content-Type": "application/activity+json"}


class DeliveryOutcome(StrEnum):
    """Meaning of a response for the delivery and for the health of its host."""

    ARRIVED = "arrived"
    REFUSED = "refused"
    """Permanent refusal; the host is healthy."""
    POSTPONED = "postponed"
    """Temporary refusal; the host is healthy."""
    IN_DOUBT = "in doubt"
    """Refused with 422, and tried up to ATTEMPTS_IN_DOUBT times; the host is healthy. When the first two requests of an unknown
    actor arrive at the same time, Mastodon answers one of the two with 422 and discards its activity; a retry succeeds. Any
    other 422 is a permanent refusal."""
    FAILED = "failed"
    """The host is failing."""


def outcome_of(status: int) -> DeliveryOutcome:
    """Return the meaning of an HTTP status: 501, and 4xx except 401, 408, 422 and 429, are permanent refusals."""
    if 200 <= status < 300:
        return DeliveryOutcome.ARRIVED
    if status in _TEMPORARY:
        return DeliveryOutcome.POSTPONED
    if status == 422:
        return DeliveryOutcome.IN_DOUBT
    if 400 <= status < 500 or status == 501:
        return DeliveryOutcome.REFUSED
    return DeliveryOutcome.FAILED


def _begin(jobs: Sequence[Job[Delivery]]) -> Iterator[Steps]:
    activity_ids = {job.row.activity_id for job in jobs}
    activities = OutboundActivity.objects.select_related("account__key_pair").filter(id__one_of=activity_ids).in_bulk()
    signers = _signers(activities.values())
    receivers = [(activities.get(job.row.activity_id), job.row.host) for job in jobs]
    synchronizing = load_headers(
        (activity.account, host) for activity, host in receivers if activity is not None and activity.synchronizes
    )
    closed = closed_among({job.row.host for job in jobs})
    for job in jobs:
        yield _deliver(job, activities.get(job.row.activity_id), signers, synchronizing, closed)


def _signers(activities: Iterable[OutboundActivity]) -> dict[int, Sequence[Signer]]:
    """Return the signers of the activities' accounts, keyed by account id; accounts whose key cannot be decrypted are left
    out.
    """
    signers: dict[int, Sequence[Signer]] = {}
    for activity in activities:
        pair = getattr(activity.account, "key_pair", None)
        if activity.account_id not in signers and pair is not None and pair.private_key:
            try:
                signers[activity.account_id] = signers_of(pair)
            except UnreadableSecret:
                logger.error("The key of account %d cannot be opened with FIELD_ENCRYPTION_KEYS", activity.account_id)
    return signers


def _deliver(
    job: Job[Delivery],
    activity: OutboundActivity | None,
    signers: dict[int, Sequence[Signer]],
    synchronizing: dict[tuple[int, str], str],
    closed: set[str],
) -> Steps:
    if job.row.host in closed and activity is not None and activity.type not in _TYPES_SENT_TO_CLOSED_SERVERS:
        # The host of the inbox is checked as well, because it may differ from the domain of the accounts (contract, federation
        # section 17).
        raise Failed("This server is closed to the one of the inbox.", final=True)
    usable = signers.get(activity.account_id) if activity is not None else None
    if activity is None or not usable:
        raise Failed("There is no key to sign it with.", final=True)
    header = synchronizing.get((activity.account_id, job.row.host)) if activity.synchronizes else None
    headers = {**_HEADERS, HEADER: header} if header is not None else _HEADERS
    try:
        response: Response = yield _send(
            Request(
                job.row.inbox_url,
                method="POST",
                headers=headers,
                body=activity.body.encode(),
                redirects=0,
                max_bytes=1 << 16,
                deadline=DEADLINE,
            ),
            usable,
        )
    except FetchError as error:
        failure = job.answers[job.row.host] = f"{type(error).__name__}: {error}"
        raise Failed(failure) from None
    outcome = outcome_of(response.status)
    failure = f"{response.status} {response.body[:200].decode('utf-8', 'replace')}".strip()
    job.answers[job.row.host] = failure if outcome is DeliveryOutcome.FAILED else ""
    if outcome is not DeliveryOutcome.ARRIVED:
        in_doubt = outcome is DeliveryOutcome.IN_DOUBT and job.row.attempts + 1 >= ATTEMPTS_IN_DOUBT
        raise Failed(failure, final=outcome is DeliveryOutcome.REFUSED or in_doubt)


async def _send(request: Request, signers: Sequence[Signer]) -> Response:
    for signer in signers:
        response = await fetch_async(replace(request, signer=signer))
        # 401: the server may know only the key that was in use before the last rotation.
        if response.status != 401:
            break
    return response


def _forget(rows: Sequence[Delivery]) -> None:
    record_reached_hosts({row.host for row in rows if row.dead_at is None})
    forget_delivered({row.activity_id for row in rows})


DELIVERIES: Final = Work(Delivery, _begin, _forget)
