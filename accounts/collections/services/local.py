"""Creates, changes and deletes collections, and adds accounts to them (contract, parameters "Collections")."""

from collections.abc import Sequence
from typing import Any, Final
from uuid import uuid4

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from accounts.collections import policies
from accounts.collections.models import ITEMS_LIMIT, Collection, CollectionItem, ItemState
from accounts.events import CollectionChanged, CollectionItemAdded, CollectionItemRemoved, CollectionListed
from accounts.models import Account, User
from accounts.queries.accounts import list_accounts
from accounts.queries.relations import load_relations
from accounts.services.tags import ensure_tags
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid, NotFound, require_valid
from social.kernel.events import publish
from social.kernel.locks import keep_row, lock, lock_row
from social.kernel.text.languages import known_language
from social.kernel.text.names import normalise_hashtag

#: The accounts in a collection are notified when one of these columns changes.
_NOTIFIED: Final = ("name", "description")


def create_collection(*, user: User, draft: policies.CollectionDraft, account_ids: Sequence[int] = ()) -> Collection:
    """Create a collection of these accounts. Publishes CollectionItemAdded, and CollectionListed for a discoverable collection.

    Raises NotFound for an unknown account, Forbidden for an account that may not be featured, and Invalid.
    """
    owner = user.account
    if len(account_ids) > ITEMS_LIMIT:
        raise Invalid.of([policies.too_many_items()], details=True)
    members = _featurable(owner.id, account_ids)
    require_valid(policies.draft_errors(draft, new=True), details=True)
    with transaction.atomic():
        lock(f"collections:{owner.id}")
        if Collection.objects.filter(account=owner).count() >= user.role.collection_limit:
            raise Invalid.of([policies.too_many_collections()], details=True)
        collection = Collection(account=owner, **_values(draft))
        collection.save(force_insert=True)
        items = CollectionItem.objects.bulk_create(
            [_new_item(collection, member) for member in members], batch_size=ITEMS_LIMIT
        )
        publish(
            *_listed_event(collection),
            *(CollectionItemAdded(collection_id=collection.id, item_id=item.id, at_creation=True) for item in items),
        )
    return collection


def update_collection(*, owner: Account, collection: Collection, draft: policies.CollectionDraft) -> None:
    """Update the submitted fields. Publishes CollectionChanged, and CollectionListed if `discoverable` has changed.

    Raises Forbidden for another account's collection, Invalid, NotFound.
    """
    _require_owner(owner, collection)
    require_valid(policies.draft_errors(draft, new=False), details=True)
    with transaction.atomic():
        values = _values(draft)
        if values:
            keep_row(collection)
            collection.updated_at = clock.now()
            renamed = any(
                values.get(name, getattr(collection, name)) != getattr(collection, name) for name in _NOTIFIED
            )
            listed = values.get("discoverable", collection.discoverable) != collection.discoverable
            for name, value in values.items():
                setattr(collection, name, value)
            collection.save(update_fields=[*values, "updated_at"])
            if listed:
                publish(CollectionListed(collection_id=collection.id, account_id=owner.id))
            publish(CollectionChanged(collection_id=collection.id, renamed=renamed))


def delete_collection(*, owner: Account, collection: Collection) -> None:
    """Delete a collection. Raises Forbidden unless `owner` owns it; NotFound. Publishes CollectionListed if it was listed."""
    _require_owner(owner, collection)
    with transaction.atomic():
        publish(*_listed_event(collection))
        lock_row(collection).delete()


def add_item(*, owner: Account, collection: Collection, account_id: int) -> CollectionItem:
    """Add an account to a collection; a remote account has to consent first. Publishes CollectionItemAdded.

    Raises NotFound; Forbidden for another owner's collection and for an account that may not be featured; Invalid for a full
    collection and for an account that is or was in it.
    """
    _require_owner(owner, collection)
    member = _featurable(owner.id, [account_id])[0]
    with transaction.atomic():
        lock(f"collection:{collection.id}")
        keep_row(collection)
        items = CollectionItem.objects.filter(collection=collection)
        if items.filter(account=member).exists():
            raise Invalid.sentence(_("Account has already been taken"))
        if items.filter(state__in=[ItemState.ACCEPTED, ItemState.PENDING]).count() >= ITEMS_LIMIT:
            raise Invalid.of([policies.too_many_items()], details=True)
        item = _new_item(collection, member)
        item.save(force_insert=True)
        publish(CollectionItemAdded(collection_id=collection.id, item_id=item.id))
    return item


def remove_item(*, owner: Account, item: CollectionItem) -> None:
    """Remove an account from a collection of `owner`; it may be added again. Publishes CollectionItemRemoved.

    Raises Forbidden for another owner's collection, NotFound for an account that has left for good.
    """
    _require_owner(owner, item.collection)
    if item.state == ItemState.REVOKED:
        raise NotFound
    with transaction.atomic():
        publish(*removed(item))
        item.delete()


def revoke_item(*, account: Account, item: CollectionItem) -> None:
    """Leave a collection for good. Raises Forbidden for somebody else's item. Publishes CollectionItemRemoved."""
    if item.account_id != account.id:
        raise Forbidden
    with transaction.atomic():
        CollectionItem.objects.filter(id=item.id).update(state=ItemState.REVOKED)
        publish(*removed(item, left=True))


def remove_between(account_id: int, other_id: int) -> None:
    """Remove two accounts from each other's collections. Publishes CollectionItemRemoved for each item."""
    items = CollectionItem.objects.filter(
        Q(collection__account_id=account_id, account_id=other_id)
        | Q(collection__account_id=other_id, account_id=account_id)
    ).exclude(state=ItemState.REVOKED)
    publish(*(event for item in items for event in removed(item, left=item.account_id == account_id)))
    items.delete()


def _listed_event(collection: Collection) -> list[CollectionListed]:
    """Return the event for a new or deleted collection; none unless the collection is discoverable."""
    event = CollectionListed(collection_id=collection.id, account_id=collection.account_id)
    return [event] if collection.discoverable else []


def removed(item: CollectionItem, *, left: bool = False) -> list[CollectionItemRemoved]:
    """Return the event for a removed item; none when its account is unknown here. `left`: the account itself has left."""
    if item.account_id is None:
        return []
    number, account_id = item.collection_id, item.account_id
    return [CollectionItemRemoved(collection_id=number, account_id=account_id, item_id=item.id, left=left)]


def _new_item(collection: Collection, member: Account) -> CollectionItem:
    """Build an item of a local collection; the item is pending for a remote account, which has to consent."""
    if member.local:
        return CollectionItem(collection=collection, account=member)
    request_uri = f"{collection.account.uri}/feature_requests/{uuid4()}"
    return CollectionItem(collection=collection, account=member, state=ItemState.PENDING, request_uri=request_uri)


def _featurable(owner_id: int, account_ids: Sequence[int]) -> list[Account]:
    ids = list(dict.fromkeys(account_ids))
    known = {account.id: account for account in list_accounts().filter(id__one_of=ids)}
    if any(number not in known for number in ids):
        raise NotFound
    relations = load_relations(owner_id, ids)
    if not all(policies.may_be_featured(account, relations) for account in known.values()):
        raise Forbidden
    return [known[number] for number in ids]


def _values(draft: policies.CollectionDraft) -> dict[str, Any]:
    values = {
        name: draft.values[name]
        for name in ("name", "description", "sensitive", "discoverable")
        if draft.values.get(name) is not None
    }
    if "language" in draft.values:
        values["language"] = known_language(draft.values["language"])
    if draft.tag is not None:
        values["tag"] = ensure_tags([(normalise_hashtag(draft.tag), draft.tag)])[0]
    return values


def _require_owner(owner: Account, collection: Collection) -> None:
    if collection.account_id != owner.id:
        raise Forbidden
