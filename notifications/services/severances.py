"""Notifies users of the follows that a block or a suspension has ended, once all follows have ended (behaviours section 13)."""

from collections.abc import Sequence
from typing import Final

from accounts.events import FollowsSevered
from accounts.models import SeveredAccount
from notifications.events import SeveredWaiting
from notifications.models import NotificationType
from notifications.services.notifying import Note, notify
from social.kernel.events import publish

BATCH_SIZE: Final = 200
"""Maximum number of users who are notified in one transaction."""


def notify_severed(events: Sequence[FollowsSevered | SeveredWaiting]) -> None:
    """Notify the local accounts that have lost follows through an action; each recipient is also the sender."""
    for event in events:
        after_id = event.after_id if isinstance(event, SeveredWaiting) else 0
        severed = SeveredAccount.objects.filter(severance__cause=event.cause, id__gt=after_id).order_by("id")
        recipients = list(severed.values_list("id", "account_id")[:BATCH_SIZE])
        notify(
            Note(account_id, account_id, NotificationType.SEVERED_RELATIONSHIPS, f"severed:{number}", severed_id=number)
            for number, account_id in recipients
        )
        if len(recipients) == BATCH_SIZE:
            publish(SeveredWaiting(cause=event.cause, after_id=recipients[-1][0]))
