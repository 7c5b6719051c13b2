"""Publishing events to the apps above: written with the change they report, handled by every app that subscribed.

What the ids of outbox rows promise: rows of one queue and key run in the order of their ids, and ids are given at
`publish`, not at commit. Two publishers of one key therefore have their events run in the order of their changes only if
the later one had to wait for the earlier one: **publish while holding the row lock of the thing the key names** (the
UPDATE that changed it, or `select_for_update`). Without it a transaction that commits later may carry a smaller id, and
its event may run after that of its successor; reactions that read the current state still end right.
"""

from __future__ import annotations

from datetime import datetime
from itertools import chain
from typing import Any, Final

from django.db import transaction

from social.kernel.batches import in_batches
from social.kernel.subscriptions import Event, Reaction, Subscription, on, registry
from social.kernel.wakes import wake

__all__ = ["Event", "Reaction", "Subscription", "on", "publish"]

_COLUMNS: Final = (
    "INSERT INTO social_outbox (queue, key, subscriber, event, payload, due_at, attempts, last_error) VALUES "
)
_ROW: Final = "(%s, %s, %s, %s, %s, COALESCE(%s, now()), 0, '')"
_ROWS: Final = 1000


class _Wake:
    """A commit hook that can be recognised, so that a transaction wakes its queues once and together."""

    def __init__(self) -> None:
        self.queues: dict[str, None] = {}

    def __call__(self) -> None:
        wake(*self.queues)


def publish(*events: Event, due_at: datetime | None = None) -> None:
    """Write the events to the outbox, inside the caller's transaction: their reactions run if and only if it commits.

    One row per event and interested subscriber, one INSERT for all (of up to 1000); after commit one wake-up for all
    queues. With `due_at` (poll ends, scheduled posts) the reactions run at that time or soon after; such rows keep no
    order with others of their key, else a poll that ends in a week would block a week of events. Raises RuntimeError
    outside a transaction.
    """
    connection = transaction.get_connection()
    if not connection.in_atomic_block:
        names = ", ".join(type(event).__name__ for event in events)
        raise RuntimeError(f"publish({names}) needs the transaction of the change it reports.")
    rows: list[tuple[Any, ...]] = []
    for event in events:
        wanted = [s for s in registry.of(type(event)) if s.when is None or s.when(event)]
        if wanted:
            key, payload, name = "" if due_at else event.ordering_key(), event.encoded(), type(event).__name__
            rows += [(s.queue, key, s.subscriber, name, payload, due_at) for s in wanted]
    with connection.cursor() as cursor:
        for batch in in_batches(rows, _ROWS):
            cursor.execute(_COLUMNS + ", ".join([_ROW] * len(batch)), list(chain.from_iterable(batch)))
    if due_at is not None:
        return
    if rows:
        # A hook that is still there belongs to this part of the transaction or to one around it: a savepoint that is
        # rolled back takes along what was registered inside it.
        hook = next((hook for _, hook, _ in connection.run_on_commit if isinstance(hook, _Wake)), None)
        if hook is None:
            hook = _Wake()
            transaction.on_commit(hook, robust=True)
        hook.queues.update(dict.fromkeys(row[0] for row in rows))
