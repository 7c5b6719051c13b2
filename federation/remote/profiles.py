"""Reads what hangs on the profiles of people of other servers: pinned posts, featured hashtags, totals.

Source: contract, federation sections 4 and 8. What a profile makes this server fetch is bounded by what is kept of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from accounts.models import Account
from accounts.models.tag import FEATURED_TAGS_LIMIT
from accounts.policies.audience import is_present
from accounts.services.profile_links import PAGE_TYPES, links_to, links_to_verify, remember_verified
from accounts.services.remote_accounts import keep_network
from federation.documents.reading import Rejected, first, kinds_of, number_of, same_origin, uri_of
from federation.documents.received_collections import hashtag_of, items_of
from federation.documents.received_notes import is_note, read_sent_note
from federation.reasons import Reason
from federation.remote.fetching import DEADLINE, Awaited, fetch_document, get
from federation.remote.posts import find_or_fetch_post, keep_note
from federation.remote.references import find_post_by_uri
from federation.remote.requests import may_look_up
from federation.remote.signing import follower_signer
from social.kernel.errors import Unavailable
from social.kernel.http.client import Signer
from statuses.models import Status
from statuses.services.featured_tags import keep_featured_tags
from statuses.services.pins import PINS_LIMIT, keep_pins

FIRST_POSTS: Final = 40
OUTBOX_PAGES: Final = 3
LINKS_LIMIT: Final = 4
"""Links of one profile that are verified: as many as a profile of this server has."""


def read_pins(actor_uri: str) -> None:
    """Have those posts pinned that an actor's server says are. Raises as `fetch_document`; a post that cannot be had is left
    out.
    """
    account = _find(actor_uri)
    if account is None or not account.featured_url:
        return
    # Of a post for followers the collection has only the id.
    signer = follower_signer(account)
    posts = [_own_post(item, account, signer) for item in _items(account.featured_url, PINS_LIMIT)]
    keep_pins(account_id=account.id, status_ids=[post.id for post in posts if post is not None])


def read_profile(actor_uri: str) -> None:
    """Keep the hashtags that an actor's server says are featured, how many posts, followers and followed there are, and
    whether it hides who those are: their collections have no pages then (contract, federation section 4).

    Raises Unavailable; what the server does not give is left as it was, or unknown.
    """
    account = _find(actor_uri)
    if account is None:
        return
    if account.featured_tags_url:
        with contextlib.suppress(Rejected):
            names = map(hashtag_of, _items(account.featured_tags_url, FEATURED_TAGS_LIMIT))
            keep_featured_tags(account=account, names=[name for name in names if name is not None])
    followers, following, outbox = map(_document, (account.followers_url, account.following_url, account.outbox_url))
    named = {"followers": followers, "following": following, "statuses": outbox}
    totals = {name: number_of(document.get("totalItems")) for name, document in named.items()}
    keep_network(account=account, totals=totals, hidden=not (followers.get("first") and following.get("first")))


def _document(uri: str) -> Mapping[str, Any]:
    """The collection; an empty one where there is none for us."""
    try:
        return fetch_document(uri) if uri else {}
    except Rejected:
        return {}


def read_outbox(actor_uri: str) -> None:
    """Keep the last posts of somebody elsewhere, at most FIRST_POSTS of the first OUTBOX_PAGES pages of the outbox, as posts
    that nobody is notified of. Boosts are left out: each would be a question to another server. Raises as `fetch_document`.
    """
    account = _find(actor_uri)
    if account is None or not account.outbox_url:
        return
    activities: list[Any] = []
    outbox = fetch_document(account.outbox_url)
    # Sites made of files have no pages: the collection itself has the items.
    page = _page(outbox.get("first") or outbox, account.outbox_url)
    for number in range(1, OUTBOX_PAGES + 1):
        activities += items_of(page, FIRST_POSTS)
        if number == OUTBOX_PAGES or len(activities) >= FIRST_POSTS or not page.get("next"):
            break
        page = _page(page["next"], account.outbox_url)
    # The oldest first: what is answered is there before its answer.
    for activity in reversed(activities[:FIRST_POSTS]):
        if isinstance(activity, Mapping) and "Create" in kinds_of(activity):
            _own_post(first(activity.get("object")), account, activity=activity)


def _page(value: Any, collection_url: str) -> Mapping[str, Any]:
    """A page of a collection, embedded or on the server of the collection; an empty one where there is none."""
    if isinstance(value, Mapping) or value is None:
        return value or {}
    uri = uri_of(value)
    if uri is None or not same_origin(uri, collection_url):
        raise Rejected(Reason.PAGE_OF_OTHER_SERVER)
    return fetch_document(uri)


def verify_links(actor_uri: str) -> None:
    """Ask the first pages that somebody elsewhere links to whether they link back, and remember when they did.

    A redirect is no answer (security row 3). A page that does not answer stays unverified until the profile is read again.
    """
    account = _find(actor_uri)
    if account is None:
        return
    links = links_to_verify(account.fields, local=False)[:LINKS_LIMIT]
    remember_verified(account.id, [link for link in links if _links_back(link, account)])


def _links_back(link: str, account: Account) -> bool:
    try:
        page = get(link, accept=PAGE_TYPES, deadline=DEADLINE)
    except Awaited as awaited:
        # It is about to be asked for. Any number of profiles may name pages of one server (security row 71).
        if not may_look_up(awaited.host):
            return False
        raise
    except (Rejected, Unavailable):
        return False
    return page.url == link and links_to(account, page)


def _find(actor_uri: str) -> Account | None:
    return Account.objects.filter(is_present(), uri=actor_uri, domain__isnull=False).first()


def _items(uri: str, limit: int) -> list[Any]:
    """The first items of a collection: those in it, else those of its first page."""
    document = fetch_document(uri)
    return items_of(document, limit) or items_of(_page(document.get("first"), uri), limit)


def _own_post(
    item: Any, account: Account, signer: Signer | None = None, *, activity: Mapping[str, Any] | None = None
) -> Status | None:
    """The account's own post that its server names or embeds, in an `activity` maybe; None for anything else."""
    uri = uri_of(item)
    if uri is None or not same_origin(uri, account.uri):
        return None
    try:
        status = find_post_by_uri(uri)
        if status is None and isinstance(item, Mapping) and is_note(item):
            return keep_note(read_sent_note(item, account.uri, activity), account, publish_event=False, ancestors=0)
        return status or find_or_fetch_post(uri, publish_event=False, ancestors=0, signer=signer)
    except Rejected:
        return None
