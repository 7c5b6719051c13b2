"""Creates notifications about collections for the accounts in them (contract, behaviours section 13)."""

from collections.abc import Sequence

from django.db.models import QuerySet

from accounts.collections.models import CollectionItem, ItemState
from accounts.events import CollectionChanged, CollectionItemAdded, CollectionItemRemoved
from notifications.models import Notification, NotificationType
from notifications.services.notifying import Note, notify, notify_anew


def notify_added(events: Sequence[CollectionItemAdded]) -> None:
    """Notify accounts that were added to a collection."""
    notify(
        _note(item, NotificationType.ADDED_TO_COLLECTION, f"collection_item:{item.id}")
        for item in _accepted(id__one_of=[event.item_id for event in events])
    )


def notify_changed(events: Sequence[CollectionChanged]) -> None:
    """Notify the accounts in an edited collection; the notification of an earlier edit is replaced."""
    notify_anew(
        _note(item, NotificationType.COLLECTION_UPDATE, f"collection_update:{item.collection_id}")
        for item in _accepted(collection_id__one_of=list({event.collection_id for event in events}))
    )


def forget_removed(events: Sequence[CollectionItemRemoved]) -> None:
    """Delete an account's notifications about a collection after the account was removed from the collection."""
    for event in events:
        Notification.objects.filter(collection_id=event.collection_id, account_id=event.account_id).delete()


def _accepted(**conditions: object) -> QuerySet[CollectionItem]:
    rows = CollectionItem.objects.filter(state=ItemState.ACCEPTED, account__isnull=False, **conditions)
    return rows.select_related("collection").order_by("id")


def _note(item: CollectionItem, type: NotificationType, cause: str) -> Note:
    assert item.account_id is not None  # selected by `_accepted`
    owner_id = item.collection.account_id
    return Note(item.account_id, owner_id, type, cause, collection_id=item.collection_id)
