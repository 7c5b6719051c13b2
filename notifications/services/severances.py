"""Notifies users of the follows that a block or a suspension has ended, once it is complete (behaviours section 13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from accounts.events import FollowsSevered
from accounts.models import SeveredAccount
from notifications.events import SeveredWaiting
from notifications.models import NotificationType
from notifications.services.notifying import Note, notify
from social.kernel.events import publish

BATCH_SIZE: Final = 200
"""Maximum of users who are notified in one transaction."""


def notify_severed(events: Sequence[FollowsSevered]) -> None:
    """Notify the local accounts that have lost follows by this action, in batches of BATCH_SIZE; each recipient is also the
    sender.
    """
    for event in events:
        _notify(event.cause, after_id=0)


def notify_more_severed(events: Sequence[SeveredWaiting]) -> None:
    """Notify the next batch of `notify_severed`."""
    for event in events:
        _notify(event.cause, after_id=event.after_id)


def _notify(cause: str, *, after_id: int) -> None:
    severed = SeveredAccount.objects.filter(severance__cause=cause, id__gt=after_id).order_by("id")
    found = list(severed.values_list("id", "account_id")[:BATCH_SIZE])
    notify(
        [
            Note(
                account_id,
                account_id,
                NotificationType.SEVERED_RELATIONSHIPS,
                f"severed:{number}",
                severed_id=number,
            )
            for number, account_id in found
        ]
    )
    if len(found) == BATCH_SIZE:
        publish(SeveredWaiting(cause=cause, after_id=found[-1][0]))
