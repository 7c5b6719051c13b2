"""Creates notifications of edited posts, for newly mentioned accounts, boosters and quoters."""

from collections.abc import Iterator, Sequence
from sys import maxsize
from typing import Final

from notifications.events import BoostersWaiting, QuotersWaiting
from notifications.models import NotificationType
from notifications.services.event_handlers import notify_of_mentions
from notifications.services.notifying import Note, notify_anew
from social.kernel.events import publish
from statuses.events import StatusEdited
from statuses.models import Quote, QuoteState, Status

BATCH_SIZE: Final = 200
"""Maximum number of boosts or quotes whose authors are notified in one transaction."""


def notify_added(events: Sequence[StatusEdited]) -> None:
    """Notify accounts that an edit mentions for the first time."""
    first_ids: dict[int, int] = {}
    for event in events:
        if event.first_mention_id is not None:
            first_ids[event.status_id] = min(event.first_mention_id, first_ids.get(event.status_id, maxsize))
    notify_of_mentions(first_ids)


def notify_boosters(events: Sequence[StatusEdited | BoostersWaiting]) -> None:
    """Notify the local boosters of an edited post; the notification of an earlier edit is replaced."""
    for status, after_id in _edited(events):
        boosts = Status.objects.filter(reblog_of_id=status.id, deleted_at=None, account__domain=None, id__gt=after_id)
        boosters = list(boosts.order_by("id").values_list("id", "account_id")[:BATCH_SIZE])
        notify_anew(
            Note(account_id, status.account_id, NotificationType.UPDATE, f"update:{status.id}", status.id)
            for _boost, account_id in boosters
        )
        if len(boosters) == BATCH_SIZE:
            publish(BoostersWaiting(status_id=status.id, after_id=boosters[-1][0]))


def notify_quoters(events: Sequence[StatusEdited | QuotersWaiting]) -> None:
    """Notify the local accounts that quote an edited post with the author's consent; otherwise like `notify_boosters`."""
    for status, after_id in _edited(events):
        quotes = Quote.objects.filter(
            quoted_status_id=status.id,
            state=QuoteState.ACCEPTED,
            status__deleted_at=None,
            status__local=True,
            id__gt=after_id,
        )
        quoters = list(quotes.order_by("id").values_list("id", "status_id", "status__account_id")[:BATCH_SIZE])
        notify_anew(
            Note(account_id, status.account_id, NotificationType.QUOTED_UPDATE, f"quoted_update:{number}", quoting_id)
            for number, quoting_id, account_id in quoters
        )
        if len(quoters) == BATCH_SIZE:
            publish(QuotersWaiting(status_id=status.id, after_id=quoters[-1][0]))


def _edited(events: Sequence[StatusEdited | BoostersWaiting | QuotersWaiting]) -> Iterator[tuple[Status, int]]:
    """Yield each edited post, and the id after which its next batch begins."""
    after_ids = {event.status_id: 0 if isinstance(event, StatusEdited) else event.after_id for event in events}
    for status in Status.objects.filter(id__one_of=list(after_ids), deleted_at=None).order_by("id"):
        yield status, after_ids[status.id]
