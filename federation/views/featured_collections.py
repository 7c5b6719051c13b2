"""Documents of collections of accounts (contract, federation sections 2 and 8)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.collections.queries import find_collection, list_of_account
from accounts.policies.audience import is_present
from accounts.queries.relations import load_relations
from federation.documents import activities, collections
from federation.documents.context import with_context
from federation.documents.featured_collections import (
    ITEM_TERMS,
    TERMS,
    featured_collection,
    featured_collections_uri,
    featured_item,
    load_items,
)
from federation.documents.featured_collections import authorization as authorization_document
from federation.views.negotiation import (
    Representation,
    document,
    not_acceptable,
    preferred_representation,
    reads,
    redirect,
)
from federation.views.reading import find_local_account, signer_of
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id

COLLECTIONS_PER_PAGE = 5


@reads
def featured_collections(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/featured_collections`: the account's discoverable collections; none for a blocked signer."""
    signer, account = signer_of(request), find_local_account(username)
    found = list_of_account(account, signer.id if signer is not None else None)
    uri, total = featured_collections_uri(account), found.count()
    number = parse_id(request.GET.get("page"))
    if number is None:
        first = f"{uri}?page=1"
        return document(collections.collection(uri, total, first=first, ordered=False), private=signer is not None)
    number = max(1, min(number, 10_000))
    begin = (number - 1) * COLLECTIONS_PER_PAGE
    collections_shown = list(found[begin : begin + COLLECTIONS_PER_PAGE])
    items = load_items(one.id for one in collections_shown)
    page = collections.page(
        f"{uri}?page={number}",
        uri,
        [featured_collection(one, items[one.id]) for one in collections_shown],
        total=total,
        next_uri=f"{uri}?page={number + 1}" if begin + COLLECTIONS_PER_PAGE < total else None,
        prev_uri=f"{uri}?page={number - 1}" if number > 1 else None,
        ordered=False,
        terms=TERMS,
    )
    return document(page, private=signer is not None)


@reads
def collection(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/collections/:id`: the document, or a redirect to the page."""
    form = preferred_representation(request)
    if form is None:
        return not_acceptable()
    if form is Representation.PAGE:
        signer_of(request)
        return redirect(_find_own(id, username).page_url)
    return collection_response(request, id, username)


def collection_response(request: HttpRequest, id: str, username: str | None = None) -> HttpResponse:
    """Return the document of a local collection, whose owner must be `username` if that is given. Raises NotFound, also for a
    blocked signer.
    """
    signer, found = signer_of(request), _find_own(id, username)
    if _blocks(found.account_id, signer.id if signer is not None else None):
        raise NotFound
    data = featured_collection(found, load_items([found.id])[found.id])
    return document(with_context(data, TERMS), private=signer is not None)


def _find_own(id: str, username: str | None) -> Collection:
    owner = find_local_account(username) if username is not None else None
    found = find_collection(parse_id(id) or 0)
    if found.uri is not None or (owner is not None and found.account_id != owner.id):
        raise NotFound
    return found


@reads
def collection_item(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/collection_items/:id`: the document of an item, for which there is no page."""
    signer, account = signer_of(request), find_local_account(username)
    if preferred_representation(request) is not Representation.DOCUMENT:
        return not_acceptable()
    items = CollectionItem.objects.filter(is_present("account"), collection__account=account, state=ItemState.ACCEPTED)
    item = require_found(items.filter(id=parse_id(id) or 0).select_related("account").first())
    if _blocks(account.id, signer.id if signer is not None else None):
        raise NotFound
    return document(with_context(featured_item(account, item), ITEM_TERMS), private=signer is not None)


@reads
def authorization(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/feature_authorizations/:id`: the account's consent to be in a collection, until the consent is
    withdrawn.
    """
    signer, account = signer_of(request), find_local_account(username)
    if preferred_representation(request) is not Representation.DOCUMENT:
        return not_acceptable()
    items = CollectionItem.objects.filter(is_present("collection__account"), account=account, state=ItemState.ACCEPTED)
    item = require_found(items.filter(id=parse_id(id) or 0).select_related("collection__account").first())
    if _blocks(account.id, signer.id if signer is not None else None):
        raise NotFound
    found = authorization_document(account, item.collection, item.id)
    return document(with_context(found, activities.authorization_terms(found)), private=signer is not None)


def _blocks(account_id: int, signer_id: int | None) -> bool:
    return load_relations(signer_id, [account_id]).is_blocked_by(account_id)
