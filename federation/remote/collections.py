"""Fetches remote collections of accounts, and the consent of the accounts in them (FEP-7aa9). An account is shown only after
its authorization has been fetched from its own server (security row 36).
"""

from collections.abc import Mapping
from typing import Any, Final

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.collections.services.remote import find_member, record_consent, store_collection, store_consent_answer
from accounts.models import Account, Follow
from accounts.policies.audience import is_present
from federation.documents import reading, received_collections
from federation.reasons import Reason, Rejected
from federation.remote import actors, references, requests
from federation.remote.fetching import DEADLINE, Missing, fetch_collection, fetch_document
from social.kernel import clock, links, locks
from social.kernel.errors import Conflict

PAGES: Final = 5
"""Maximum number of pages that are read from an account's list of collections. At five collections per page, this is enough for
all collections that are stored for one account.
"""
COLLECTIONS_PER_PAGE: Final = 20
_SHOWN_STATES: Final = (ItemState.PENDING, ItemState.ACCEPTED)
_GONE_STATUSES: Final = (404, 410)


def store_document(document: Mapping[str, Any], owner: Account) -> Collection:
    """Store a collection that its owner has signed, or whose document was fetched, and request its members. Raises Rejected for
    another owner's collection, the id of another object, a collection beyond the limit, and a suspended owner.
    """
    if owner.local or owner.suspended:
        raise Rejected(Reason.NO_COLLECTIONS_HERE)
    received = received_collections.read_collection(document, owner.uri)
    try:
        with references.claimed_id(received.uri, owner.uri, Collection):
            collection = store_collection(owner=owner, received=received)
    except Conflict:
        raise Rejected(Reason.TAKEN_ID_OF_COLLECTION) from None
    requests.request_members(collection, may_ask=is_followed(owner))
    return collection


def is_followed(owner: Account) -> bool:
    """Tell whether a local account follows `owner`."""
    return Follow.objects.filter(target=owner, account__domain=None).exists()


def find_collection(uri: str, owner: Account) -> Collection | None:
    return Collection.objects.filter(uri=uri, account=owner).select_related("account").first()


def find_or_fetch_collection(uri: str, owner: Account, *, deadline: float = DEADLINE) -> Collection:
    """Return the owner's collection with this id, fetched if it is unknown here. Raises the errors of `fetch_document`."""
    stored = find_collection(uri, owner)
    if stored is not None:
        return stored
    if not reading.same_origin(uri, owner.uri):
        raise Rejected(Reason.COLLECTION_OF_OTHER_SERVER)
    return store_document(fetch_document(uri, deadline=deadline), owner)


def fetch_unknown_collection(document: Mapping[str, Any], *, deadline: float) -> Collection:
    """Store the collection that a fetched document describes, and its owner. Raises the errors of `fetch_document`."""
    owner_uri = reading.web_uri(document.get("attributedTo"))
    if owner_uri is None or links.is_own(owner_uri):
        raise Rejected(Reason.COLLECTION_OF_NOBODY)
    return find_or_fetch_collection(
        reading.uri_of(document) or "", actors.find_or_fetch(owner_uri, deadline=deadline), deadline=deadline
    )


def find_or_fetch_linked(uri: str) -> None:
    """Fetch the collection with this id, unless it is known. Raises the errors of `fetch_unknown_collection`."""
    if not links.is_own(uri) and not Collection.objects.filter(uri=uri).exists():
        fetch_unknown_collection(fetch_document(uri), deadline=DEADLINE)


def read_collections(actor_uri: str) -> None:
    """Store the collections that an account's server lists, and delete its other collections. Raises the errors of
    `fetch_collection`.

    Two kinds of unlisted collections remain: new collections, which a cached list may lack, and collections that contain local
    accounts, whose consent is still valid.
    """
    owner = Account.objects.filter(is_present(), uri=actor_uri, domain__isnull=False).first()
    if owner is None or not owner.featured_collections_url:
        return
    page: Any = fetch_collection(owner.featured_collections_url)
    documents = received_collections.items_of(page, COLLECTIONS_PER_PAGE)
    following = None if page.get("totalItems") == 0 else page.get("first")
    for _number in range(PAGES):
        if following is None:
            break
        page = following if isinstance(following, Mapping) else _fetch_page(following, owner.featured_collections_url)
        documents += received_collections.items_of(page, COLLECTIONS_PER_PAGE)
        following = page.get("next")
    listed = []
    for document in documents:
        if not received_collections.is_featured_collection(document):
            continue
        try:
            listed.append(store_document(document, owner).id)
        except Rejected:
            continue
    if following is None:
        # Collections that are not discoverable are never listed.
        outdated = Collection.objects.filter(
            account=owner, discoverable=True, created_at__lt=clock.now() - requests.CACHED
        )
        locks.delete_rows(
            outdated.exclude(id__one_of=listed).exclude(items__account__domain=None, items__account__isnull=False)
        )


def _fetch_page(value: Any, list_url: str) -> Mapping[str, Any]:
    uri = reading.uri_of(value)
    if uri is None or not reading.same_origin(uri, list_url):
        raise Rejected(Reason.PAGE_OF_OTHER_SERVER)
    return fetch_collection(uri)


def resolve_item(item_uri: str) -> None:
    """Show an account in a remote collection if the account's server confirms the consent. Remove the account if that server
    answers that the consent does not exist. Raises Rejected if there is no consent, and the errors of `find_or_fetch`.
    """
    items = CollectionItem.objects.filter(uri=item_uri, state__in=_SHOWN_STATES, approval_uri__isnull=False)
    item = items.select_related("collection__account", "account").first()
    if item is None or item.collection.uri is None or item.approval_uri is None:
        return
    member = item.account
    if member is None:
        member = actors.find_or_fetch(item.object_uri)
        if not find_member(item=item, account=member):
            return
    if member.local or member.suspended:
        raise Rejected(Reason.NOBODY_AGREED)
    try:
        _check_authorization(item.approval_uri, item.collection.uri, member)
    except Missing as missing:
        if item.state != ItemState.ACCEPTED or missing.status not in _GONE_STATUSES:
            raise
        store_consent_answer(item_id=item.id, accepted=False, account_id=member.id)
        return
    store_consent_answer(item_id=item.id, accepted=True, account_id=member.id, approval_uri=item.approval_uri)
    record_consent(item_id=item.id)


def _check_authorization(uri: str, collection_uri: str, member: Account) -> None:
    if not reading.same_origin(uri, member.uri):
        raise Rejected(Reason.AUTHORIZATION_ELSEWHERE)
    document = fetch_document(uri)
    named_ids = [reading.uri_of(document.get(name)) for name in ("id", "interactingObject", "interactionTarget")]
    if "FeatureAuthorization" not in reading.kinds_of(document) or named_ids != [uri, collection_uri, member.uri]:
        raise Rejected(Reason.AUTHORIZATION_FOR_OTHER)
