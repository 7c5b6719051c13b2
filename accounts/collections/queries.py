"""Reads collections with the items that a viewer may see."""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from django.db.models import Q, QuerySet

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account
from accounts.policies.audience import is_present
from accounts.policies.relations import Relations
from accounts.queries.accounts import load_accounts
from accounts.queries.relations import load_relations
from social.kernel import links
from social.kernel.errors import Forbidden, NotFound, require_found

_OWN_NUMBER: Final = re.compile(r"/collections/([0-9]{1,18})\Z")


@dataclass(frozen=True, slots=True)
class ShownCollection:
    """A collection and the items that a viewer sees in it, in the order in which they were added."""

    collection: Collection
    items: tuple[CollectionItem, ...]

    @property
    def account_ids(self) -> list[int]:
        """The ids of the owner, then of the accounts in the collection."""
        members = (item.account_id for item in self.items)
        return [self.collection.account_id, *(number for number in members if number is not None)]


def _collections() -> QuerySet[Collection]:
    return Collection.objects.filter(is_present("account")).select_related("tag", "account")


def find_collection(collection_id: int) -> Collection:
    """Return the collection with this id, for any viewer. Raises NotFound, also when its owner is suspended."""
    return require_found(_collections().filter(id=collection_id).first())


def find_shown(collection_id: int, viewer_id: int | None) -> ShownCollection:
    """Return the collection as the viewer sees it. Raises NotFound; Forbidden when its owner blocks the viewer."""
    collection = find_collection(collection_id)
    if load_relations(viewer_id, [collection.account_id]).is_blocked_by(collection.account_id):
        raise Forbidden
    return show([collection], viewer_id)[0]


def load_visible(collection_ids: Iterable[int], viewer_id: int | None) -> list[ShownCollection]:
    """Return the collections with these ids that the viewer may see, in the given order. Runs several queries for each id."""
    visible = []
    for number in collection_ids:
        with suppress(NotFound, Forbidden):
            visible.append(find_shown(number, viewer_id))
    return visible


def load_shown(collection_ids: Iterable[int], viewer_id: int | None) -> dict[int, ShownCollection]:
    """Load collections by id as the viewer sees them, in three queries; collections of suspended owners are left out."""
    ids = list(collection_ids)
    if not ids:
        return {}
    return {one.collection.id: one for one in show(_collections().filter(id__one_of=ids), viewer_id)}


def load_whole(collection_ids: Iterable[int]) -> dict[int, ShownCollection]:
    """Load collections by id with all their items, in any state; `seen_by` then selects what a viewer sees. Takes two
    queries (none without ids).

    Collections of suspended owners, and suspended accounts, are left out.
    """
    ids = list(collection_ids)
    return {one.collection.id: one for one in _load_items(_collections().filter(id__one_of=ids))} if ids else {}


def find_linked(addresses: Iterable[str]) -> dict[str, int]:
    """Return the ids of the known collections that have these addresses, by address; one query (none without addresses)."""
    urls = list(dict.fromkeys(addresses))
    if not urls:
        return {}
    numbers = [int(found[1]) for one in urls if (found := _OWN_NUMBER.search(one)) and one.startswith(links.web_url())]
    rows = _collections().filter(Q(uri__one_of=urls) | Q(url__one_of=urls) | Q(id__one_of=numbers))
    known = {address: row.id for row in rows for address in row.addresses}
    return {address: known[address] for address in urls if address in known}


def find_item(collection_id: int, item_id: int) -> CollectionItem:
    """Return an item of the collection, in any state. Raises NotFound."""
    items = CollectionItem.objects.select_related("collection")
    return require_found(items.filter(id=item_id, collection_id=collection_id).first())


def list_of_account(account: Account, viewer_id: int | None) -> QuerySet[Collection]:
    """List an account's collections, newest first. The owner sees all of them, a viewer whom the account blocks sees none, and
    everybody else sees the discoverable ones.
    """
    collections = _collections().filter(account=account).order_by("-id")
    if viewer_id == account.id:
        return collections
    if load_relations(viewer_id, [account.id]).is_blocked_by(account.id):
        return collections.none()
    return collections.filter(discoverable=True)


def list_with_account(account_id: int) -> QuerySet[Collection]:
    """List the collections that an account is in or was asked to be in, newest first."""
    items = CollectionItem.objects.filter(account_id=account_id, state__in=[ItemState.ACCEPTED, ItemState.PENDING])
    return _collections().filter(id__in=items.values("collection_id")).order_by("-id")


def show(collections: Iterable[Collection], viewer_id: int | None) -> list[ShownCollection]:
    """Return the collections with the items that the viewer may see; owners see pending items as well. Takes two queries."""
    whole = _load_items(collections)
    members = {item.account_id for one in whole for item in one.items if item.account_id is not None}
    relations = load_relations(viewer_id, members)
    return [seen_by(one, viewer_id, relations) for one in whole]


def seen_by(whole: ShownCollection, viewer_id: int | None, relations: Relations) -> ShownCollection:
    """Return a collection from `load_whole` with only the items that the viewer of `relations` may see."""
    states = _visible_states(whole.collection, viewer_id)
    hidden = relations.blocking | relations.domain_blocking
    items = (item for item in whole.items if item.state in states and item.account_id not in hidden)
    return ShownCollection(whole.collection, tuple(items))


def _load_items(collections: Iterable[Collection]) -> list[ShownCollection]:
    collections = list(collections)
    ids = [collection.id for collection in collections]
    rows = CollectionItem.objects.filter(is_present("account"), account__isnull=False, collection_id__one_of=ids)
    items: dict[int, list[CollectionItem]] = {number: [] for number in ids}
    for item in rows.order_by("id"):
        items[item.collection_id].append(item)
    return [ShownCollection(collection, tuple(items[collection.id])) for collection in collections]


def load_members(shown: ShownCollection) -> list[Account]:
    """Load the owner, then the accounts in the collection, in one query."""
    known = load_accounts(shown.account_ids)
    return [known[account_id] for account_id in shown.account_ids if account_id in known]


def _visible_states(collection: Collection, viewer_id: int | None) -> Iterable[str]:
    if viewer_id == collection.account_id:
        return (ItemState.ACCEPTED, ItemState.PENDING)
    return (ItemState.ACCEPTED,)
