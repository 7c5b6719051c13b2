"""Sends changes of profiles and collections of local accounts to their followers' servers (contract, federation section 7)."""

from collections.abc import Iterable, Sequence
from typing import Any

from accounts import events as account_events
from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account, FeaturedTag, Tag
from federation.documents import activities, featured_collections
from federation.documents.actors import featured_tag
from federation.events import FeatureAnswerDue
from federation.outbound.audience import followers_inboxes, inbox_of, load_pairs
from federation.outbound.queueing import drop_waiting, enqueue
from social.kernel import links
from statuses.events import StatusPinChanged
from statuses.models import Pin
from statuses.queries.posts import load_posts


def send_pins(events: Sequence[StatusPinChanged]) -> None:
    """Send an Add of each pinned post, and a Remove of each unpinned post; nothing for deleted or local-only posts."""
    found = load_posts(event.status_id for event in events)
    posts = [post for post in found if not post.is_deleted and not post.local_only]
    pinned = set(Pin.objects.filter(status_id__one_of=[post.id for post in posts]).values_list("status_id", flat=True))
    accounts = Account.objects.filter(id__one_of=[post.account_id for post in posts]).in_bulk()
    for post in posts:
        _send(accounts[post.account_id], post.object_uri, f"status:{post.id}", is_added=post.id in pinned)


def send_featured_tags(events: Sequence[account_events.FeaturedTagChanged]) -> None:
    """Send an Add of each hashtag that is featured now, and a Remove of each hashtag that is no longer featured."""
    accounts = Account.objects.filter(id__one_of=[event.account_id for event in events]).in_bulk()
    tags = Tag.objects.filter(id__one_of=[event.tag_id for event in events]).in_bulk()
    rows = FeaturedTag.objects.filter(account_id__one_of=accounts).values_list("account_id", "tag_id", "name")
    spellings = {(account_id, tag_id): name for account_id, tag_id, name in rows}
    for event in events:
        account, tag = accounts.get(event.account_id), tags.get(event.tag_id)
        if account is not None and tag is not None:
            name = spellings.get((account.id, tag.id))
            item = featured_tag(account, tag, name or tag.display_name)
            _send(account, item, f"featured_tag:{account.id}:{tag.id}", is_added=name is not None)


def _send(account: Account, target: str | dict[str, Any], key: str, *, is_added: bool) -> None:
    inboxes = followers_inboxes(account.id) if account.deleted_at is None and not account.suspended else set()
    for kind in ("Add", "Remove"):
        drop_waiting(key, inboxes, kind)
    enqueue(account, activities.featuring(account, target, is_added=is_added), inboxes, key=key)


def send_listed(events: Sequence[account_events.CollectionListed]) -> None:
    """Send an Add for each discoverable collection, and a Remove, which contains only the id, for each other collection."""
    collections = _shown_collections(event.collection_id for event in events)
    accounts = Account.objects.filter(id__one_of=[event.account_id for event in events]).in_bulk()
    items = featured_collections.load_items(collections)
    for event in events:
        number, account = event.collection_id, accounts.get(event.account_id)
        if account is None or not account.local:
            continue
        target: str | dict[str, Any] = links.collection_uri(account.id, number)
        if number in collections:
            target = featured_collections.featured_collection(collections[number], items[number])
        _send_listing(account, number, featured_collections.listing(account, target))


def send_collections(events: Sequence[account_events.CollectionChanged]) -> None:
    """Send an Update of each collection that is discoverable."""
    collections = _shown_collections(event.collection_id for event in events)
    items = featured_collections.load_items(collections)
    for number, collection in collections.items():
        document = featured_collections.featured_collection(collection, items[number])
        _send_listing(collection.account, number, featured_collections.update(collection, document))


def send_items_added(events: Sequence[account_events.CollectionItemAdded]) -> None:
    """Send an Add of each item that was added to a discoverable collection."""
    collections = _shown_collections(event.collection_id for event in events)
    items = featured_collections.load_items(collections)
    item_ids = {event.item_id for event in events}
    for number, collection in collections.items():
        owner = collection.account
        for item in items[number]:
            if item.id in item_ids:
                target = featured_collections.featured_item(owner, item)
                _send_listing(owner, number, featured_collections.item_listing(owner, number, target))


def send_items_removed(events: Sequence[account_events.CollectionItemRemoved]) -> None:
    """Send a Remove of each item that was taken out of a discoverable collection."""
    collections = _shown_collections(event.collection_id for event in events)
    for event in events:
        collection = collections.get(event.collection_id)
        if collection is not None and event.item_id:
            owner = collection.account
            target = featured_collections.item_uri(owner, event.item_id)
            _send_listing(owner, collection.id, featured_collections.item_listing(owner, collection.id, target))


def send_feature_requests(events: Sequence[account_events.CollectionItemAdded]) -> None:
    """Send a FeatureRequest to the server of each account that was put into a local collection and has not answered yet."""
    pending_items = CollectionItem.objects.filter(
        id__one_of=[event.item_id for event in events], state=ItemState.PENDING, collection__uri=None
    )
    for item in pending_items.select_related("collection__account", "account").order_by("id"):
        if item.account is not None and item.request_uri is not None:
            owner = item.collection.account
            document = featured_collections.feature_request(item.request_uri, item.collection, item.account.uri)
            inboxes = inbox_of(item.account)
            enqueue(owner, document, inboxes, key=f"collection:{item.collection_id}")


def send_feature_answers(events: Sequence[FeatureAnswerDue]) -> None:
    """Send an Accept of each FeatureRequest whose item is accepted now, and a Reject of each other FeatureRequest."""
    agreed = CollectionItem.objects.filter(id__one_of=[event.item_id for event in events], state=ItemState.ACCEPTED)
    accepted = set(agreed.values_list("id", flat=True))
    for event, account, actor in load_pairs(events, "account_id", "actor_id"):
        item_id = event.item_id if event.item_id in accepted else 0
        document = featured_collections.answer_feature(account, actor.uri, event.uri, item_id=item_id)
        enqueue(account, document, inbox_of(actor), key=_consent_key(account.id, actor))


def send_withdrawn(events: Sequence[account_events.CollectionItemRemoved]) -> None:
    """Send a Delete of the authorization of each local account that has left a remote collection."""
    collections = Collection.objects.filter(id__one_of=[event.collection_id for event in events], uri__isnull=False)
    collections_by_id = collections.select_related("account").in_bulk()
    accounts = Account.objects.filter(id__one_of=[event.account_id for event in events], domain=None).in_bulk()
    for event in events:
        account, collection = accounts.get(event.account_id), collections_by_id.get(event.collection_id)
        if account is not None and collection is not None and account.deleted_at is None:
            authorization = featured_collections.authorization(account, collection, event.item_id)
            document = activities.delete_authorization(account, authorization)
            owner = collection.account
            enqueue(account, document, inbox_of(owner), key=_consent_key(account.id, owner))


def _consent_key(account_id: int, other: Account) -> str:
    return f"consent:{account_id}:{other.id}"


def _shown_collections(collection_ids: Iterable[int]) -> dict[int, Collection]:
    collections = Collection.objects.filter(
        id__one_of=list(set(collection_ids)), discoverable=True, account__domain=None
    )
    return collections.select_related("account", "tag").in_bulk()


def _send_listing(account: Account, collection_id: int, document: dict[str, Any]) -> None:
    if account.deleted_at is None and not account.suspended:
        inboxes = followers_inboxes(account.id)
        enqueue(account, document, inboxes, key=f"collection:{collection_id}")
