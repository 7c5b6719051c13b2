"""Stores collections from other servers, and the consent of accounts to be in collections on another server (FEP-7aa9).

The caller must have clamped the values (federation section 16). Remote accounts are shown only with verified consent.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from accounts.collections.models import (
    REMOTE_COLLECTIONS_LIMIT,
    REMOTE_ITEMS_LIMIT,
    Collection,
    CollectionItem,
    ItemState,
)
from accounts.collections.services.local import removed
from accounts.events import CollectionChanged, CollectionItemAdded
from accounts.models import Account
from accounts.services.tags import ensure_tags
from social.kernel import clock
from social.kernel.errors import Conflict
from social.kernel.events import publish
from social.kernel.locks import keep_row, lock
from social.kernel.text.names import is_hashtag, normalise_hashtag

_SAID = ("url", "name", "description", "language", "sensitive", "discoverable")


@dataclass(frozen=True)
class RemoteItem:
    """Item of a remote collection; `uri` is the item's id."""

    uri: str
    object_uri: str
    approval_uri: str | None
    published: datetime


@dataclass(frozen=True)
class RemoteCollection:
    """Remote collection, whose values are validated, sanitised and clamped; `tag` is a hashtag without its #."""

    uri: str
    url: str
    name: str
    description: str | None
    language: str | None
    sensitive: bool
    discoverable: bool
    tag: str | None
    published: datetime
    updated: datetime
    items: Sequence[RemoteItem]


def store_collection(*, owner: Account, received: RemoteCollection) -> Collection:
    """Create or update the collection with this id and its listed items; an older version changes nothing.

    A local account that has consented stays, even if the received version does not list it yet. Publishes
    CollectionChanged and CollectionItemRemoved. Raises Conflict for the id of another account's collection, and for
    more than REMOTE_COLLECTIONS_LIMIT collections per account.
    """
    with transaction.atomic():
        lock(f"collections:{owner.id}", f"object:{received.uri}")
        known = Collection.objects.filter(uri=received.uri).select_related("account")
        collection = known.select_for_update(no_key=True, of=("self",)).first()
        if collection is None:
            if Collection.objects.filter(account=owner).count() >= REMOTE_COLLECTIONS_LIMIT:
                raise Conflict
            collection = Collection(account=owner, uri=received.uri, created_at=received.published, **_values(received))
            collection.save(force_insert=True)
        elif collection.account_id != owner.id:
            raise Conflict
        elif received.updated >= collection.updated_at:
            _change(collection, _values(received))
        else:
            return collection
        listed = received.items[:REMOTE_ITEMS_LIMIT]
        gone = CollectionItem.objects.filter(collection=collection, uri__isnull=False)
        _delete_items(gone.exclude(uri__one_of=[item.uri for item in listed]))
        _store_items(collection, listed)
    return collection


def store_item(*, collection: Collection, received: RemoteItem) -> None:
    """Add an item to a remote collection, or change it. Beyond REMOTE_ITEMS_LIMIT nothing is added."""
    with transaction.atomic():
        lock(f"object:{collection.uri}")
        keep_row(collection)
        known = CollectionItem.objects.filter(collection=collection)
        if known.filter(uri=received.uri).exists() or known.count() < REMOTE_ITEMS_LIMIT:
            _store_items(collection, [received])


def end_item(*, item: CollectionItem) -> None:
    """Remove an item of a remote collection, because the collection's owner has removed it. Publishes CollectionItemRemoved."""
    with transaction.atomic():
        _delete_items(CollectionItem.objects.filter(id=item.id))


def allow_item(*, collection: Collection, account: Account, request_uri: str) -> CollectionItem | None:
    """Store that a local account consents to be in a remote collection; return None if the account has left the collection
    before, or if the collection is full.

    A repeated request returns the same item. Publishes CollectionItemAdded for a new item. Raises Conflict if `request_uri`
    belongs to another owner's collection.
    """
    with transaction.atomic():
        lock(f"object:{collection.uri}")
        keep_row(collection)
        used = CollectionItem.objects.filter(request_uri=request_uri).exclude(collection=collection, account=account)
        if used.exclude(collection__account_id=collection.account_id).exists():
            raise Conflict
        # The id is removed from any other item that has it, because a server whose data was reset reuses its ids.
        used.update(request_uri=None)
        items = CollectionItem.objects.filter(collection=collection)
        item = items.filter(account=account).first()
        if item is None:
            if items.count() >= REMOTE_ITEMS_LIMIT:
                return None
            item = CollectionItem.objects.create(
                collection=collection, account=account, object_uri=account.uri, request_uri=request_uri
            )
            publish(CollectionItemAdded(collection_id=collection.id, item_id=item.id))
        elif item.state != ItemState.ACCEPTED:
            return None
        else:
            CollectionItem.objects.filter(id=item.id).update(request_uri=request_uri)
    return item


def store_consent_answer(*, item_id: int, accepted: bool, account_id: int, approval_uri: str | None = None) -> bool:
    """Store a remote account's answer to a request for its consent; return whether the answer has an effect.

    A pending item becomes accepted or rejected; an accepted item can only be revoked. Publishes CollectionItemAdded or
    CollectionItemRemoved.
    """
    with transaction.atomic():
        item = CollectionItem.objects.select_for_update().filter(id=item_id, account_id=account_id).first()
        if item is None:
            return False
        before = item.state
        if before == ItemState.PENDING:
            item.state = ItemState.ACCEPTED if accepted else ItemState.REJECTED
        elif before == ItemState.ACCEPTED and not accepted:
            item.state = ItemState.REVOKED
        if item.state == before:
            return False
        item.approval_uri = approval_uri or item.approval_uri
        item.save(update_fields=["state", "approval_uri"])
        if accepted:
            publish(CollectionItemAdded(collection_id=item.collection_id, item_id=item.id))
        elif before == ItemState.ACCEPTED:
            publish(*removed(item, left=True))
    return True


def record_consent(*, item_id: int) -> None:
    """Record that the consent to an item was just verified at the account's server."""
    CollectionItem.objects.filter(id=item_id).update(checked_at=clock.now())


def find_member(*, item: CollectionItem, account: Account) -> bool:
    """Store the account of an item; if the account has another item in the collection, delete this item and return False."""
    with transaction.atomic():
        lock(f"object:{item.collection.uri}")
        if (
            CollectionItem.objects.filter(collection_id=item.collection_id, account=account)
            .exclude(id=item.id)
            .exists()
        ):
            CollectionItem.objects.filter(id=item.id).delete()
            return False
        CollectionItem.objects.filter(id=item.id).update(account=account)
    return True


def _values(received: RemoteCollection) -> dict[str, Any]:
    values = {name: getattr(received, name) for name in _SAID}
    name = received.tag
    shown = name is not None and is_hashtag(name)
    values["tag"] = ensure_tags([(normalise_hashtag(name), name)])[0] if shown and name is not None else None
    return values | {"updated_at": received.updated}


def _change(collection: Collection, values: dict[str, Any]) -> None:
    renamed = any(values[name] != getattr(collection, name) for name in ("name", "description"))
    changed = {name: value for name, value in values.items() if getattr(collection, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(collection, name, value)
        collection.save(update_fields=list(changed))
        publish(CollectionChanged(collection_id=collection.id, renamed=renamed))


def _delete_items(items: Iterable[CollectionItem]) -> None:
    """Delete items, except revoked items, whose accounts must not be added again."""
    ended = [item for item in items if item.state != ItemState.REVOKED]
    publish(*(event for item in ended for event in removed(item)))
    CollectionItem.objects.filter(id__one_of=[item.id for item in ended]).delete()


def _store_items(collection: Collection, listed: Sequence[RemoteItem]) -> None:
    """Create or change items. Items of local accounts that have not consented are ignored; items of remote accounts are
    pending until the consent is verified.
    """
    people = {one.uri: one for one in Account.objects.filter(uri__one_of=[item.object_uri for item in listed])}
    items = list(CollectionItem.objects.filter(collection=collection).select_related("account"))
    by_uri = {item.uri: item for item in items if item.uri is not None}
    by_account = {item.account_id: item for item in items if item.account_id is not None}
    others = CollectionItem.objects.filter(uri__one_of=[item.uri for item in listed]).exclude(collection=collection)
    taken = set(others.values_list("uri", flat=True))
    new: dict[str, CollectionItem] = {}
    for item in listed:
        person = people.get(item.object_uri)
        known = by_account.get(person.id) if person is not None else None
        known = known or by_uri.get(item.uri)
        is_ours = person is not None and person.local
        if item.uri in taken or item.object_uri in new or by_uri.get(item.uri, known) != known:
            continue
        if known is None and is_ours:
            continue
        if known is None:
            new[item.object_uri] = CollectionItem(
                collection=collection,
                account=person,
                state=ItemState.PENDING,
                uri=item.uri,
                object_uri=item.object_uri,
                approval_uri=item.approval_uri,
                created_at=item.published,
            )
        elif not is_ours:
            _change_item(known, item, person)
        elif known.account == person and known.uri != item.uri:
            CollectionItem.objects.filter(id=known.id).update(uri=item.uri)
    CollectionItem.objects.bulk_create(new.values(), batch_size=REMOTE_ITEMS_LIMIT)


def _change_item(known: CollectionItem, item: RemoteItem, person: Account | None) -> None:
    """Update an item; if its account or consent has changed, it is pending until the consent is verified."""
    values: dict[str, Any] = {"uri": item.uri, "object_uri": item.object_uri, "account": person}
    if known.object_uri != item.object_uri or known.approval_uri != item.approval_uri:
        values |= {"approval_uri": item.approval_uri, "state": ItemState.PENDING}
        if known.state == ItemState.ACCEPTED:
            publish(*removed(known))
    if any(getattr(known, name) != value for name, value in values.items()):
        CollectionItem.objects.filter(id=known.id).update(**values)
