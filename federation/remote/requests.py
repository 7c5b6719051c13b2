"""Requests background fetches of remote documents. A document that is already requested is not requested again. The number of
waiting requests to one server is limited.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.events import AccountFollowed
from accounts.models import Account, Follow
from accounts.services.profile_links import links_to_verify
from federation.documents.reading import origin_of
from federation.events import DeliveriesDue
from federation.models import Delivery, Fetch, FetchKind, InboundActivity
from social.api.admission import is_exceeded
from social.api.limits import FEATURED, LOOK_UPS, MENTIONED
from social.kernel import clock
from social.kernel.claims import idle
from social.kernel.errors import Unavailable
from social.kernel.events import publish
from social.kernel.runner import Host, enqueue

ANCESTORS: Final = 20
"""Maximum number of parent posts that are fetched for a received post."""
PEOPLE_OF_POST: Final = 30
"""Maximum number of mentioned accounts that are fetched for one post; the other accounts become known when other documents
refer to them.
"""
CACHED: Final = timedelta(minutes=3, seconds=20)
CONSENT_PERIOD: Final = timedelta(days=1)


def request_posts(uris: Iterable[str], *, named_by: str, remaining: int) -> None:
    """Request posts that may be unknown here, with up to `remaining` parent posts each; the post `named_by` refers to them."""
    _request(_fetch(FetchKind.POST, uri, named_by=named_by, remaining=remaining) for uri in dict.fromkeys(uris))


def request_people(uris: Sequence[str], *, named_by: str) -> None:
    """Request the first PEOPLE_OF_POST unknown accounts that the post `named_by` mentions, within the limit (MENTIONED) of that
    post's server.
    """
    server, fetches = origin_of(named_by) or "", []
    for uri in dict.fromkeys(uris[:PEOPLE_OF_POST]):
        fetch = _fetch(FetchKind.PERSON, uri, named_by=named_by)
        if fetch.host and is_exceeded(MENTIONED, subject=server):
            break
        fetches.append(fetch)
    _request(fetches)


def request_collections(uris: Iterable[str], *, named_by: str) -> None:
    """Request the unknown collections of accounts that the post `named_by` links to."""
    _request(_fetch(FetchKind.COLLECTION, uri, named_by=named_by) for uri in dict.fromkeys(uris))


def request_quote(uri: str, wanted_uri: str, *, remaining: int, again: bool = False) -> None:
    """Request a check of the quote in the post `uri`. `wanted_uri` is the document to fetch first: the quoted post or, if
    known, the authorization. With `again` (the post now names another authorization), a check that was given up is repeated.
    """
    if again:
        Fetch.objects.filter(kind=FetchKind.QUOTE, uri=uri, dead_at__isnull=False).delete()
    _request([_fetch(FetchKind.QUOTE, uri, place=wanted_uri, named_by=uri, remaining=remaining)])


def request_edit(uri: str) -> None:
    """Request a known remote post again, after the time for which its server may answer from its cache."""
    _request([_fetch(FetchKind.EDIT, uri)], due_at=clock.now() + CACHED)


def request_followers(activity_id: int, url: str, digest: str) -> None:
    """Request the list of an actor's local followers from its server, after a minute, in which more follows may arrive.

    The `url` and `digest` of the list arrived with the activity `activity_id`.
    """
    fetch = _fetch(FetchKind.FOLLOWERS, f"{url}#{digest}", place=url, activity_id=activity_id)
    _request([fetch], due_at=clock.now() + timedelta(minutes=1))


def request_actors(accounts: Iterable[Account]) -> int:
    """Request remote accounts again, and return how many requests were added."""
    return _request(_fetch(FetchKind.ACTOR, account.uri) for account in accounts)


def request_profile(account: Account) -> None:
    """Request the pinned posts, hashtags, counts and collections of a remote account."""
    parts = {
        FetchKind.PINS: account.featured_url,
        FetchKind.PROFILE: _has_network(account),
        FetchKind.COLLECTIONS: account.featured_collections_url,
    }
    _request(_fetch(kind, account.uri) for kind, exists in parts.items() if exists)


def request_network(account: Account) -> None:
    """Request the featured hashtags and the counts of a remote account whose profile has changed, because only these documents
    show whether the account hides its followers. Several changes cause one fetch, after the time for which the account's server
    may answer from its cache.
    """
    if _has_network(account):
        _request([_fetch(FetchKind.PROFILE, account.uri)], due_at=clock.now() + CACHED)


def _has_network(account: Account) -> bool:
    return any((account.featured_tags_url, account.followers_url, account.following_url, account.outbox_url))


def request_links(account: Account) -> None:
    """Request the verification of the unverified links in a remote account's profile fields."""
    if links_to_verify(account.fields, local=False):
        _request([_fetch(FetchKind.LINKS, account.uri)])


def request_members(collection: Collection, *, may_ask: bool) -> None:
    """Request the consent of the accounts in a remote collection, if they are pending or their consent was not checked for
    CONSENT_PERIOD.

    Without `may_ask`, unknown accounts are not fetched, because the collection of an owner whom nobody here follows must not
    make this server fetch other accounts.
    """
    seen_long_ago = Q(checked_at=None) | Q(checked_at__lt=clock.now() - CONSENT_PERIOD)
    items = CollectionItem.objects.filter(
        Q(state=ItemState.PENDING) | Q(seen_long_ago, state=ItemState.ACCEPTED, account__domain__isnull=False),
        collection=collection,
        uri__isnull=False,
        approval_uri__isnull=False,
    )
    if not may_ask:
        items = items.filter(account__isnull=False)
    object_uris, named_by = {str(item.uri): item.object_uri for item in items}, str(collection.uri)
    requested = Fetch.objects.filter(kind=FetchKind.FEATURED, uri__one_of=object_uris).values_list("uri", flat=True)
    for uri in requested:
        del object_uris[uri]
    if object_uris and not is_exceeded(FEATURED, subject=origin_of(named_by) or ""):
        _request(
            _fetch(FetchKind.FEATURED, uri, place=object_uri, named_by=named_by)
            for uri, object_uri in object_uris.items()
        )


def request_first_posts(events: Sequence[AccountFollowed]) -> None:
    """React to AccountFollowed: when a remote account gets its first local follower, request its posts, its collections and,
    once more, its pinned posts, because a follower can fetch followers-only posts.
    """
    others = Follow.objects.filter(target=OuterRef("target"), account__domain=None).exclude(id=OuterRef("id"))
    follows = Follow.objects.select_related("target").filter(
        ~Exists(others), id__one_of=[event.follow_id for event in events], account__domain=None
    )
    for follow in follows:
        account = follow.target
        parts = {
            FetchKind.OUTBOX: account.outbox_url,
            FetchKind.COLLECTIONS: account.featured_collections_url,
            FetchKind.PINS: account.featured_url,
        }
        _request(_fetch(kind, account.uri) for kind, exists in parts.items() if exists)


def request_for(activity: InboundActivity, host: str) -> None:
    """Request the processing of an activity in the queue that may use the network; its first document is on `host`. Raises
    Unavailable when too many fetches from that server are waiting, or were requested on behalf of the sender's server.
    """
    wanted_by = _other_server(activity.actor.uri, host)
    fetch = Fetch(kind=FetchKind.ACTIVITY, uri=str(activity.id), host=host, activity=activity, wanted_by=wanted_by)
    if not _request([fetch]):
        raise Unavailable(f"too much waits for {host}")


def may_look_up(host: str) -> bool:
    """Count a lookup for which a user is waiting; return False if the server was asked too often recently (security row 71)."""
    return not is_exceeded(LOOK_UPS, subject=host)


def _fetch(kind: FetchKind, uri: str, *, place: str = "", named_by: str = "", **values: Any) -> Fetch:
    """Return the row for a fetch of `uri` from the server of `place` or, by default, of `uri`; the document `named_by` refers
    to `uri`.
    """
    host = origin_of(place or uri) or ""
    return Fetch(kind=kind, uri=uri, host=host, wanted_by=_other_server(named_by, host), **values)


def _other_server(named_by: str, host: str) -> str:
    server = origin_of(named_by) or ""
    return "" if server == host else server


def _request(fetches: Iterable[Fetch], *, due_at: datetime | None = None) -> int:
    return len(enqueue(*(fetch for fetch in fetches if fetch.host), due_at=due_at))


def record_contact(name: str) -> None:
    """Retry the deliveries to a host that has sent an activity (contract, federation section 11). Publishes DeliveriesDue."""
    with transaction.atomic():
        Host.objects.filter(name=name, retry_at__gt=Now()).update(retry_at=Now())
        Delivery.objects.filter(idle(), host=name, dead_at=None, due_at__gt=Now()).update(due_at=Now())
        publish(DeliveriesDue())
