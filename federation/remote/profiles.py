"""Reads what hangs on the profiles of people of other servers: pinned posts and featured hashtags.

Source: contract, federation sections 4 and 8. What a profile makes this server fetch is bounded by what is kept of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.models import Account
from accounts.models.tag import FEATURED_TAGS_LIMIT
from accounts.policies.audience import is_present
from federation.documents.reading import Rejected, same_origin, uri_of
from federation.documents.received_collections import hashtag_of, items_of
from federation.documents.received_notes import is_note, read_note
from federation.remote.fetching import fetch_document
from federation.remote.posts import find_or_fetch_post, keep_note
from federation.remote.references import find_post_by_uri
from statuses.models import Status
from statuses.services.featured_tags import keep_featured_tags
from statuses.services.pins import PINS_LIMIT, keep_pins


def read_pins(actor_uri: str) -> None:
    """Have those posts pinned that an actor's server says are. Raises as `fetch_document`; a post that cannot be had is left
    out.
    """
    account = _find(actor_uri)
    if account is None or not account.featured_url:
        return
    posts = [_own_post(item, account) for item in _items(account.featured_url, account, PINS_LIMIT)]
    keep_pins(account_id=account.id, status_ids=[post.id for post in posts if post is not None])


def read_profile(actor_uri: str) -> None:
    """Have those hashtags featured that an actor's server says are. Raises as `fetch_document`."""
    account = _find(actor_uri)
    if account is None or not account.featured_tags_url:
        return
    names = map(hashtag_of, _items(account.featured_tags_url, account, FEATURED_TAGS_LIMIT))
    keep_featured_tags(account=account, names=[name for name in names if name is not None])


def _find(actor_uri: str) -> Account | None:
    return Account.objects.filter(is_present(), uri=actor_uri, domain__isnull=False).first()


def _items(uri: str, account: Account, limit: int) -> list[Any]:
    """The first items of a collection: those in it, else those of its first page."""
    document = fetch_document(uri)
    page = document.get("first")
    if items_of(document, limit) or page is None:
        return items_of(document, limit)
    if not isinstance(page, Mapping):
        page_uri = uri_of(page)
        if page_uri is None or not same_origin(page_uri, account.uri):
            raise Rejected("the page is of another server")
        page = fetch_document(page_uri)
    return items_of(page, limit)


def _own_post(item: Any, account: Account) -> Status | None:
    """The account's own post that is named or embedded by its own server; None for anything else."""
    uri = uri_of(item)
    if uri is None or not same_origin(uri, account.uri):
        return None
    try:
        status = find_post_by_uri(uri)
        if status is None and isinstance(item, Mapping) and is_note(item):
            return keep_note(read_note(item), account, publish_event=False, ancestors=0)
        return status or find_or_fetch_post(uri, publish_event=False, ancestors=0)
    except Rejected:
        return None
