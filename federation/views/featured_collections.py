"""Documents of collections of accounts (contract, federation sections 2 and 8)."""

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
from federation.views import negotiation
from federation.views.reading import find_local_account, reader_id_of, signer_of
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id

COLLECTIONS_PER_PAGE = 5


@negotiation.reads
def featured_collections(request: HttpRequest, username: str) -> HttpResponse:
    """`/users/:username/featured_collections`: the account's discoverable collections; none for a blocked signer."""
    reader_id, account = reader_id_of(request), find_local_account(username)
    rows = list_of_account(account, reader_id)
    uri, total = featured_collections_uri(account), rows.count()
    number = parse_id(request.GET.get("page"))
    if number is None:
        first = f"{uri}?page=1"
        return negotiation.document(collections.collection(uri, total, first=first, ordered=False), reader_id=reader_id)
    number = max(1, min(number, 10_000))
    begin = (number - 1) * COLLECTIONS_PER_PAGE
    shown_rows = list(rows[begin : begin + COLLECTIONS_PER_PAGE])
    items = load_items(row.id for row in shown_rows)
    page = collections.page(
        f"{uri}?page={number}",
        uri,
        [featured_collection(row, items[row.id]) for row in shown_rows],
        total=total,
        next_uri=f"{uri}?page={number + 1}" if begin + COLLECTIONS_PER_PAGE < total else None,
        prev_uri=f"{uri}?page={number - 1}" if number > 1 else None,
        ordered=False,
        terms=TERMS,
    )
    return negotiation.document(page, reader_id=reader_id)


@negotiation.reads
def collection(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/collections/:id`: the document, or a redirect to the page."""
    form = negotiation.preferred_representation(request)
    if form is None:
        return negotiation.not_acceptable()
    if form is negotiation.Representation.PAGE:
        signer_of(request)
        return negotiation.redirect(_find_own(id, username).page_url)
    return collection_response(request, id, username)


def collection_response(request: HttpRequest, id: str, username: str | None = None) -> HttpResponse:
    """Return the document of a local collection (of the owner `username`). Raises NotFound for an unknown collection and for a
    blocked signer.
    """
    reader_id, collection_row = reader_id_of(request), _find_own(id, username)
    _refuse_blocked(collection_row.account_id, reader_id)
    data = featured_collection(collection_row, load_items([collection_row.id])[collection_row.id])
    return negotiation.document(with_context(data, TERMS), reader_id=reader_id)


def _find_own(id: str, username: str | None) -> Collection:
    owner = find_local_account(username) if username is not None else None
    collection_row = find_collection(parse_id(id) or 0)
    if collection_row.uri is not None or (owner is not None and collection_row.account_id != owner.id):
        raise NotFound
    return collection_row


@negotiation.reads
def collection_item(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/collection_items/:id`: the document of an item, for which there is no page."""
    reader_id, account = reader_id_of(request), find_local_account(username)
    if negotiation.preferred_representation(request) is not negotiation.Representation.DOCUMENT:
        return negotiation.not_acceptable()
    items = CollectionItem.objects.filter(is_present("account"), collection__account=account, state=ItemState.ACCEPTED)
    item = require_found(items.filter(id=parse_id(id) or 0).select_related("account").first())
    _refuse_blocked(account.id, reader_id)
    return negotiation.document(with_context(featured_item(account, item), ITEM_TERMS), reader_id=reader_id)


@negotiation.reads
def authorization(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/feature_authorizations/:id`: the account's consent to be in a collection, until the consent is
    withdrawn.
    """
    reader_id, account = reader_id_of(request), find_local_account(username)
    if negotiation.preferred_representation(request) is not negotiation.Representation.DOCUMENT:
        return negotiation.not_acceptable()
    items = CollectionItem.objects.filter(is_present("collection__account"), account=account, state=ItemState.ACCEPTED)
    item = require_found(items.filter(id=parse_id(id) or 0).select_related("collection__account").first())
    _refuse_blocked(account.id, reader_id)
    consent = authorization_document(account, item.collection, item.id)
    return negotiation.document(with_context(consent, activities.authorization_terms(consent)), reader_id=reader_id)


def _refuse_blocked(account_id: int, reader_id: int | None) -> None:
    if load_relations(reader_id, [account_id]).is_blocked_by(account_id):
        raise NotFound
