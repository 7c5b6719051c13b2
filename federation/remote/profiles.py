"""Fetches the further parts of remote profiles: pinned posts, featured hashtags, counts, first posts and links (contract,
federation sections 4 and 8). The number of requests for a profile is limited.
"""

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from accounts.models import Account
from accounts.models.tag import FEATURED_TAGS_LIMIT
from accounts.policies.audience import is_present
from accounts.services.profile_links import PAGE_TYPES, links_to, links_to_verify, remember_verified
from accounts.services.remote_accounts import store_network_totals
from federation.documents.reading import first, kinds_of, number_of, same_origin, uri_of
from federation.documents.received_collections import hashtag_of, items_of
from federation.documents.received_notes import is_note, read_sent_note
from federation.reasons import Reason, Rejected
from federation.remote.fetching import DEADLINE, Awaited, fetch_document, get
from federation.remote.posts import find_or_fetch_post, store_note
from federation.remote.references import find_post_by_uri
from federation.remote.requests import may_look_up
from federation.remote.signing import follower_signer
from social.kernel.errors import Unavailable
from social.kernel.http.client import Signer
from statuses.models import Status
from statuses.services.pins import PINS_LIMIT, keep_featured_tags, keep_pins

FIRST_POSTS: Final = 40
OUTBOX_PAGES: Final = 3
LINKS_LIMIT: Final = 4
"""Maximum number of links of a remote profile that are verified. A local profile can have the same number of links."""


def read_pins(actor_uri: str) -> None:
    """Store the pinned posts that an actor's server lists and that can be fetched. Raises the errors of `fetch_document`."""
    account = _find(actor_uri)
    if account is None or not account.featured_url:
        return
    # The collection contains only the ids of followers-only posts; the requests for these posts must be signed by a follower.
    signer = follower_signer(account)
    posts = [_own_post(item, account, signer) for item in _items(account.featured_url, PINS_LIMIT)]
    keep_pins(account_id=account.id, status_ids=[post.id for post in posts if post is not None])


def read_profile(actor_uri: str) -> None:
    """Store the featured hashtags of an actor, the numbers of its posts, followers and followed accounts, and whether the actor
    hides its network. The network is hidden if one of its two collections has no pages (contract, federation section 4). Values
    that the server does not provide remain unchanged. Raises Unavailable.
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
    store_network_totals(account=account, totals=totals, hidden=not (followers.get("first") and following.get("first")))


def _document(uri: str) -> Mapping[str, Any]:
    try:
        return fetch_document(uri) if uri else {}
    except Rejected:
        return {}


def read_outbox(actor_uri: str) -> None:
    """Store the last posts of a remote account without notifications: at most FIRST_POSTS from OUTBOX_PAGES pages.

    Boosts are left out, because each would need a request to another server. Raises the errors of `fetch_document`.
    """
    account = _find(actor_uri)
    if account is None or not account.outbox_url:
        return
    activities: list[Any] = []
    outbox = fetch_document(account.outbox_url)
    # The outbox of a static site has no pages; the collection itself contains the items.
    page = _page(outbox.get("first") or outbox, account.outbox_url)
    for number in range(1, OUTBOX_PAGES + 1):
        activities += items_of(page, FIRST_POSTS)
        if number == OUTBOX_PAGES or len(activities) >= FIRST_POSTS or not page.get("next"):
            break
        page = _page(page["next"], account.outbox_url)
    # Oldest first, so that a post is stored before its replies.
    for activity in reversed(activities[:FIRST_POSTS]):
        if isinstance(activity, Mapping) and "Create" in kinds_of(activity):
            _own_post(first(activity.get("object")), account, activity=activity)


def _page(value: Any, collection_url: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping) or value is None:
        return value or {}
    uri = uri_of(value)
    if uri is None or not same_origin(uri, collection_url):
        raise Rejected(Reason.PAGE_OF_OTHER_SERVER)
    return fetch_document(uri)


def verify_links(actor_uri: str) -> None:
    """Fetch the first links of a remote profile, and mark the links whose pages link back without a redirect as verified
    (security row 3).
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
        # The page is fetched next. These fetches are counted, because any number of profiles may link to one server (security
        # row 71).
        if not may_look_up(awaited.host):
            return False
        raise
    except (Rejected, Unavailable):
        return False
    return page.url == link and links_to(account, page)


def _find(actor_uri: str) -> Account | None:
    return Account.objects.filter(is_present(), uri=actor_uri, domain__isnull=False).first()


def _items(uri: str, limit: int) -> list[Any]:
    document = fetch_document(uri)
    return items_of(document, limit) or items_of(_page(document.get("first"), uri), limit)


def _own_post(
    item: Any, account: Account, signer: Signer | None = None, *, activity: Mapping[str, Any] | None = None
) -> Status | None:
    """Return the account's own post that its server names or embeds, possibly in an `activity`; None for any other item."""
    uri = uri_of(item)
    if uri is None or not same_origin(uri, account.uri):
        return None
    try:
        status = find_post_by_uri(uri)
        if status is None and isinstance(item, Mapping) and is_note(item):
            return store_note(read_sent_note(item, account.uri, activity), account, publish_event=False, ancestors=0)
        return status or find_or_fetch_post(uri, publish_event=False, ancestors=0, signer=signer)
    except Rejected:
        return None
