"""Requests for background fetches of remote documents.

Each document is requested once, however many posts or activities need it. The number of waiting requests to one server is
limited.
"""

from __future__ import annotations

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
from social.api.admission import count
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
    """Request posts that may be unknown here, with up to `remaining` parent posts each; `named_by` is the id of the post
    that refers to them.
    """
    enqueue(*_fetches_of(FetchKind.POST, uris, named_by, remaining=remaining))


def request_people(uris: Sequence[str], *, named_by: str) -> None:
    """Request the unknown accounts that the post `named_by` mentions: the first PEOPLE_OF_POST accounts, within the hourly
    limit of the post's server.
    """
    server, rows = origin_of(named_by) or "", []
    for row in _fetches_of(FetchKind.PERSON, uris[:PEOPLE_OF_POST], named_by):
        count_of_server = count(MENTIONED, subject=server)
        if count_of_server is not None and count_of_server.exceeded:
            break
        rows.append(row)
    enqueue(*rows)


def request_collections(uris: Iterable[str], *, named_by: str) -> None:
    """Request the unknown collections of accounts that the post `named_by` links to."""
    enqueue(*_fetches_of(FetchKind.COLLECTION, uris, named_by))


def request_quote(uri: str, wanted_uri: str, *, remaining: int, again: bool = False) -> None:
    """Request a check of the quote in the post `uri`. The check fetches the quoted post and its author's consent;
    `wanted_uri` is the address of the first of these documents.

    A check that was given up is repeated only with `again`, for a post that now names another authorization.
    """
    if again:
        Fetch.objects.filter(kind=FetchKind.QUOTE, uri=uri, dead_at__isnull=False).delete()
    host = origin_of(wanted_uri) or ""
    _request(Fetch(kind=FetchKind.QUOTE, uri=uri, host=host, wanted_by=_other_server(uri, host), remaining=remaining))


def request_edit(uri: str) -> None:
    """Request a known remote post again, after the time for which its server may answer from its cache: three minutes at
    Mastodon (contract, federation section 1).
    """
    _request(Fetch(kind=FetchKind.EDIT, uri=uri, host=origin_of(uri) or ""), clock.now() + CACHED)


def request_followers(activity_id: int, url: str, digest: str) -> None:
    """Request the list of an actor's local followers from the actor's server, after a minute in which follows can still arrive.
    `activity_id` is the activity that came with the `url` and `digest` of the list.
    """
    row = Fetch(kind=FetchKind.FOLLOWERS, uri=f"{url}#{digest}", host=origin_of(url) or "", activity_id=activity_id)
    _request(row, clock.now() + timedelta(minutes=1))


def request_actor(account: Account) -> None:
    """Request a remote account again."""
    request_actors([account])


def request_actors(accounts: Iterable[Account]) -> int:
    """Request remote accounts again, and return how many requests were added."""
    rows = (Fetch(kind=FetchKind.ACTOR, uri=account.uri, host=origin_of(account.uri) or "") for account in accounts)
    return len(enqueue(*(row for row in rows if row.host)))


def request_profile(account: Account) -> None:
    """Request the pinned posts, hashtags, counts and collections of a remote account."""
    host = origin_of(account.uri) or ""
    collections = (account.featured_tags_url, account.followers_url, account.following_url, account.outbox_url)
    addresses = {
        FetchKind.PINS: account.featured_url,
        FetchKind.PROFILE: any(collections),
        FetchKind.COLLECTIONS: account.featured_collections_url,
    }
    enqueue(*(Fetch(kind=kind, uri=account.uri, host=host) for kind, there in addresses.items() if host and there))


def request_network(account: Account) -> None:
    """Request the featured hashtags and the counts of a remote account whose profile has changed: only these documents show
    whether the account hides its followers. Several changes cause a single fetch, after the time for which the account's server
    may answer from its cache.
    """
    if any((account.featured_tags_url, account.followers_url, account.following_url, account.outbox_url)):
        row = Fetch(kind=FetchKind.PROFILE, uri=account.uri, host=origin_of(account.uri) or "")
        _request(row, clock.now() + CACHED)


def request_links(account: Account) -> None:
    """Request the verification of the unverified links in a remote account's profile fields."""
    if links_to_verify(account.fields, local=False):
        _request(Fetch(kind=FetchKind.LINKS, uri=account.uri, host=origin_of(account.uri) or ""))


def request_members(collection: Collection, *, may_ask: bool) -> None:
    """Request the consent of the accounts in a remote collection: of pending accounts, and of shown accounts whose consent was
    not checked for CONSENT_PERIOD.

    Unknown accounts are fetched only with `may_ask`: the collection of an owner whom no local account follows must not make
    this server fetch other accounts.
    """
    seen_long_ago = Q(checked_at=None) | Q(checked_at__lt=clock.now() - CONSENT_PERIOD)
    pending_items = CollectionItem.objects.filter(
        Q(state=ItemState.PENDING) | Q(seen_long_ago, state=ItemState.ACCEPTED, account__domain__isnull=False),
        collection=collection,
        uri__isnull=False,
        approval_uri__isnull=False,
    )
    if not may_ask:
        pending_items = pending_items.filter(account__isnull=False)
    places = {str(item.uri): origin_of(item.object_uri) for item in pending_items}
    known_uris = Fetch.objects.filter(kind=FetchKind.FEATURED, uri__one_of=places).values_list("uri", flat=True)
    for uri in known_uris:
        del places[uri]
    fetch_count = count(FEATURED, subject=origin_of(str(collection.uri)) or "") if places else None
    if fetch_count is not None and fetch_count.exceeded:
        return
    named_by = str(collection.uri)
    rows = (
        Fetch(kind=FetchKind.FEATURED, uri=uri, host=host, wanted_by=_other_server(named_by, host))
        for uri, host in places.items()
        if host
    )
    enqueue(*rows)


def request_first_posts(events: Sequence[AccountFollowed]) -> None:
    """React to AccountFollowed: when a remote account gets its first local follower, request its posts, its collections and,
    once more, its pinned posts, because a follower can fetch followers-only posts.
    """
    others = Follow.objects.filter(target=OuterRef("target"), account__domain=None).exclude(id=OuterRef("id"))
    follows = Follow.objects.select_related("target").filter(
        ~Exists(others), id__one_of=[event.follow_id for event in events], account__domain=None
    )
    for follow in follows:
        account, host = follow.target, origin_of(follow.target.uri) or ""
        addresses = {
            FetchKind.OUTBOX: account.outbox_url,
            FetchKind.COLLECTIONS: account.featured_collections_url,
            FetchKind.PINS: account.featured_url,
        }
        enqueue(*(Fetch(kind=kind, uri=account.uri, host=host) for kind, there in addresses.items() if host and there))


def request_for(activity: InboundActivity, host: str) -> None:
    """Request the processing of an activity in the queue that may use the network; its first document is on `host`.

    Raises Unavailable when too many fetches wait for that server, or too many were already requested on behalf of the sender's
    server.
    """
    wanted_by = _other_server(activity.actor.uri, host)
    if not _request(
        Fetch(kind=FetchKind.ACTIVITY, uri=str(activity.id), host=host, activity=activity, wanted_by=wanted_by)
    ):
        raise Unavailable(f"too much waits for {host}")


def may_look_up(host: str) -> bool:
    """Count a lookup on a server for which a user waits; return False if the server was asked too often lately (security row
    71).
    """
    look_ups = count(LOOK_UPS, subject=host)
    return look_ups is None or not look_ups.exceeded


def _fetches_of(kind: FetchKind, uris: Iterable[str], named_by: str, **values: Any) -> list[Fetch]:
    """Return a `Fetch` of this kind for each of these ids that has a host."""
    hosts = {uri: origin_of(uri) for uri in uris}
    return [
        Fetch(kind=kind, uri=uri, host=host, wanted_by=_other_server(named_by, host), **values)
        for uri, host in hosts.items()
        if host
    ]


def _other_server(named_by: str, host: str) -> str:
    """Return the server of the document `named_by`; empty if it is the same as `host`."""
    server = origin_of(named_by) or ""
    return "" if server == host else server


def _request(fetch: Fetch, due_at: datetime | None = None) -> bool:
    return bool(fetch.host and enqueue(fetch, due_at=due_at))


def record_contact(name: str) -> None:
    """End the back-off of a host that has sent an activity, and retry the deliveries to it now (contract, federation section
    11).

    Publishes DeliveriesDue.
    """
    with transaction.atomic():
        Host.objects.filter(name=name, retry_at__gt=Now()).update(retry_at=Now())
        Delivery.objects.filter(idle(), host=name, dead_at=None, due_at__gt=Now()).update(due_at=Now())
        publish(DeliveriesDue())
