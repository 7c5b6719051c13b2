"""Creates notifications about collections for the accounts in them (contract, behaviours section 13)."""

from __future__ import annotations

from collections.abc import Sequence

from accounts.collections.models import CollectionItem, ItemState
from accounts.events import CollectionChanged, CollectionItemAdded, CollectionItemRemoved
from notifications.models import Notification, NotificationType
from notifications.services.notifying import Note, notify, notify_anew


def notify_added(events: Sequence[CollectionItemAdded]) -> None:
    """Notify accounts that were added to a collection."""
    notify(
        [
            Note(
                account_id,
                item.collection.account_id,
                NotificationType.ADDED_TO_COLLECTION,
                f"collection_item:{item.id}",
                collection_id=item.collection_id,
            )
            for item, account_id in _accepted(id__one_of=[event.item_id for event in events])
        ]
    )


def notify_changed(events: Sequence[CollectionChanged]) -> None:
    """Notify the accounts in an edited collection; the notification of an earlier edit is replaced."""
    notify_anew(
        [
            Note(
                account_id,
                item.collection.account_id,
                NotificationType.COLLECTION_UPDATE,
                f"collection_update:{item.collection_id}",
                collection_id=item.collection_id,
            )
            for item, account_id in _accepted(collection_id__one_of=list({event.collection_id for event in events}))
        ]
    )


def forget_removed(events: Sequence[CollectionItemRemoved]) -> None:
    """Delete an account's notifications about a collection from which it was removed."""
    for event in events:
        Notification.objects.filter(collection_id=event.collection_id, account_id=event.account_id).delete()


def _accepted(**conditions: object) -> list[tuple[CollectionItem, int]]:
    """Return the items whose accounts have consented to be in the collection, with their account ids."""
    rows = CollectionItem.objects.filter(state=ItemState.ACCEPTED, **conditions).select_related("collection")
    return [(item, item.account_id) for item in rows.order_by("id") if item.account_id is not None]
