"""Publishes events to the apps above: they are written in the transaction of the change that they report, and handled by every
app that has subscribed.

Rows of one queue and key run in the order of their ids, which are given at `publish`, not at commit. **Publish while holding
the row lock of the object that the key names** (the UPDATE that changed it, or `select_for_update`): the later of two
publishers then waits for the earlier one, and their events run in the order of their changes. Without the lock, the event with
the smaller id may be committed later, and run after the event with the larger id. A reaction that reads the current state has
the right result even if events run in the wrong order.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from itertools import chain
from typing import Any, Final

from django.db import transaction

from social.kernel.batches import in_batches
from social.kernel.statements import Row, Value, rows_of
from social.kernel.subscriptions import Event, Reaction, Subscription, on, registry
from social.kernel.wakes import wake

__all__ = ["Event", "Reaction", "Subscription", "change_and_publish", "on", "publish"]

_COLUMNS: Final = (
    "INSERT INTO social_outbox (queue, key, subscriber, event, payload, due_at, attempts, last_error) VALUES "
)
_ROW: Final = "(%s, %s, %s, %s, %s, COALESCE(%s, now()), 0, '')"
_ROWS: Final = 1000
_CHANGED_AND_PUBLISHED: Final = """
WITH change AS ({change}), published AS (
    INSERT INTO social_outbox (queue, key, subscriber, event, payload, due_at, attempts, last_error)
    SELECT s.queue, %(event_key)s, s.subscriber, %(event_name)s,
           CAST(%(event_payload)s AS jsonb) || jsonb_build_object(CAST(%(event_number)s AS text), change.id), now(), 0, ''
    FROM change, unnest(CAST(%(event_queues)s AS text[]), CAST(%(event_subscribers)s AS text[])) AS s (queue, subscriber)
)
SELECT * FROM change
"""


class _Wake:
    """A commit hook that wakes the queues of a transaction; `publish` extends it, so that all queues are woken together."""

    def __init__(self) -> None:
        self.queues: dict[str, None] = {}

    def __call__(self) -> None:
        wake(*self.queues)


def publish(*events: Event, due_at: datetime | None = None) -> None:
    """Write the events to the outbox, inside the caller's transaction: their reactions run if and only if the transaction
    commits.

    One row is written per event and interested subscriber, with one INSERT for up to 1000 rows, and all queues are woken
    together after the commit. With `due_at` (poll ends, scheduled posts) the reactions run at that time or soon after. Rows
    with `due_at` are not ordered with other rows of their key, because a poll that ends in a week must not block a week of
    events. Raises RuntimeError outside a transaction.
    """
    connection = transaction.get_connection()
    if not connection.in_atomic_block:
        names = ", ".join(type(event).__name__ for event in events)
        raise RuntimeError(f"publish({names}) needs the transaction of the change it reports.")
    rows: list[tuple[Any, ...]] = []
    for event in events:
        wanted = _interested_subscriptions(event)
        if wanted:
            key, payload, name = "" if due_at else event.ordering_key(), event.encoded(), type(event).__name__
            rows += [(s.queue, key, s.subscriber, name, payload, due_at) for s in wanted]
    with connection.cursor() as cursor:
        for batch in in_batches(rows, _ROWS):
            cursor.execute(_COLUMNS + ", ".join([_ROW] * len(batch)), list(chain.from_iterable(batch)))
    if rows and due_at is None:
        _wake_after_commit(row[0] for row in rows)


def change_and_publish(change: str, values: Mapping[str, Value], event: Event, *, number: str) -> list[Row]:
    """Make a change and publish an event for each row that it returns, in one statement, to save a round trip; return the
    rows.

    `change` is a constant statement with placeholders `%(name)s` for `values`; it must return a column `id`. `number` names
    the event field into which each id is written; neither the event's key nor a `when` can use that field. Change and events
    are committed together or not at all; outside a transaction the statement is its own transaction. Raises the errors of
    `rows_of`.
    """
    wanted = _interested_subscriptions(event)
    published: dict[str, Value] = {
        "event_key": event.ordering_key(),
        "event_name": type(event).__name__,
        "event_payload": event.encoded(),
        "event_number": number,
        "event_queues": [s.queue for s in wanted],
        "event_subscribers": [s.subscriber for s in wanted],
    }
    rows = rows_of(_statement_for(change), {**values, **published})
    if rows and wanted:
        _wake_after_commit(s.queue for s in wanted)
    return rows


def _interested_subscriptions(event: Event) -> list[Subscription[Any]]:
    return [s for s in registry.of(type(event)) if s.when is None or s.when(event)]


@cache
def _statement_for(change: str) -> str:
    return _CHANGED_AND_PUBLISHED.format(change=change)


def _wake_after_commit(queues: Iterable[str]) -> None:
    # An existing hook belongs to this savepoint or to one around it, because the rollback of a savepoint removes the hooks that
    # were registered inside it.
    hooks = transaction.get_connection().run_on_commit
    there = next((hook for _, hook, _ in hooks if isinstance(hook, _Wake)), None)
    hook = there or _Wake()
    hook.queues.update(dict.fromkeys(queues))
    if there is None:
        # Outside a transaction the hook is called immediately.
        transaction.on_commit(hook, robust=True)
