"""Sends the calls of webhooks: one signed request for each event, with retries."""

import time
from collections.abc import Iterator, Sequence
from typing import Final

from django.db import transaction

from moderation.models import Webhook, WebhookAttempt, WebhookCall
from moderation.policies.webhooks import ATTEMPTS_KEPT, signature
from social.kernel.crypto import UnreadableSecret, decrypt
from social.kernel.http.client import FetchError, Refused, Request, Response, fetch_async
from social.kernel.lengths import MESSAGE_LIMIT
from social.kernel.locks import keep_rows
from social.kernel.runner import Failed, Job, Steps, Work

#: Time-out of a request, in seconds.
DEADLINE: Final = 10.0
_TEMPORARY: Final = (401, 408, 429)


def _begin(jobs: Sequence[Job[WebhookCall]]) -> Iterator[Steps]:
    if not jobs:
        return
    webhooks = Webhook.objects.filter(id__one_of={job.row.webhook_id for job in jobs}, enabled=True).in_bulk()
    for job in jobs:
        yield _call(job, webhooks.get(job.row.webhook_id))


def _call(job: Job[WebhookCall], webhook: Webhook | None) -> Steps:
    """Make one attempt to call the webhook, and store the result. A 4xx status ends the attempts unless it may be temporary."""
    if webhook is None:
        return
    body = job.row.body.encode()
    try:
        secret = decrypt(webhook.secret)
    except UnreadableSecret as error:
        _store_attempt(job.row, error=str(error))
        raise Failed(str(error), final=True) from None
    started = time.monotonic()
    try:
        response: Response = yield fetch_async(
            Request(
                webhook.url,
                method="POST",
                headers={"Content-Type": "application/json", "X-Hub-Signature": signature(secret, body)},
                body=body,
                redirects=0,
                max_bytes=1 << 16,
                deadline=DEADLINE,
            )
        )
    except FetchError as error:
        failure = job.answers[job.row.host] = f"{type(error).__name__}: {error}"
        _store_attempt(job.row, error=failure, seconds=time.monotonic() - started)
        raise Failed(failure, final=isinstance(error, Refused)) from None
    status = response.status
    text = response.body[:200].decode("utf-8", "replace").replace("\0", "")
    failure = "" if 200 <= status < 300 else f"{status} {text}".strip()
    job.answers[job.row.host] = failure if status >= 500 else ""
    _store_attempt(job.row, status=status, error=failure, seconds=time.monotonic() - started)
    if failure:
        raise Failed(failure, final=status < 500 and status not in _TEMPORARY)


def _store_attempt(call: WebhookCall, *, error: str, status: int | None = None, seconds: float = 0.0) -> None:
    """Store the result of an attempt; delete all but the last ATTEMPTS_KEPT attempts of the webhook."""
    with transaction.atomic():
        if not keep_rows(Webhook, [call.webhook_id]):
            return
        attempts = WebhookAttempt.objects.filter(webhook_id=call.webhook_id)
        attempts.create(
            webhook_id=call.webhook_id,
            event=call.event,
            status=status,
            error=error[:MESSAGE_LIMIT],
            milliseconds=round(seconds * 1000),
        )
        oldest = attempts.order_by("-id").values("id")[ATTEMPTS_KEPT - 1 : ATTEMPTS_KEPT]
        attempts.filter(id__lt=oldest).delete()


CALLS: Final = Work(WebhookCall, _begin)
"""The queue of webhook calls."""
