"""Puts what is wanted of other servers on the list of background fetches.

Each function asks for one thing once however many want it. What waits for one server is bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from accounts.events import AccountFollowed
from accounts.models import Account, Collection, CollectionItem, Follow
from accounts.models.collection import ItemState
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
"""Posts above a received one that are fetched for it."""
PEOPLE_OF_POST: Final = 30
"""Mentioned people of one post who are fetched for it; more become known when something else brings them."""
CACHED: Final = timedelta(minutes=3, seconds=20)
CONSENT_PERIOD: Final = timedelta(days=1)


def request_posts(uris: Iterable[str], *, named_by: str, remaining: int) -> None:
    """Have posts fetched that may be unknown here, and up to `remaining` posts above each; `named_by` is the id of the post
    that names them.
    """
    enqueue(*_named(FetchKind.POST, uris, named_by, remaining=remaining))


def request_people(uris: Sequence[str], *, named_by: str) -> None:
    """Have people fetched who are unknown here and whom the post with the id `named_by` mentions, the first PEOPLE_OF_POST of
    them, as long as its server has not named too many within the hour.
    """
    server, rows = origin_of(named_by) or "", []
    for row in _named(FetchKind.PERSON, uris[:PEOPLE_OF_POST], named_by):
        counted = count(MENTIONED, subject=server)
        if counted is not None and counted.exceeded:
            break
        rows.append(row)
    enqueue(*rows)


def request_collections(uris: Iterable[str], *, named_by: str) -> None:
    """Have collections of people fetched that the post with the id `named_by` links to and that are unknown here."""
    enqueue(*_named(FetchKind.COLLECTION, uris, named_by))


def request_quote(uri: str, wanted_uri: str, *, remaining: int, again: bool = False) -> None:
    """Have the quote in a post looked at: what it quotes, and the consent to it, of which the first is at `wanted_uri`.

    One that was given up before is looked at `again` only when the post names another consent.
    """
    if again:
        Fetch.objects.filter(kind=FetchKind.QUOTE, uri=uri, dead_at__isnull=False).delete()
    host = origin_of(wanted_uri) or ""
    _request(Fetch(kind=FetchKind.QUOTE, uri=uri, host=host, wanted_by=_other(uri, host), remaining=remaining))


def request_edit(uri: str) -> None:
    """Have a known post of another server looked at again, when what its server may have kept of it is over: Mastodon
    answers from a cache of three minutes (contract, federation section 1).
    """
    _request(Fetch(kind=FetchKind.EDIT, uri=uri, host=origin_of(uri) or ""), clock.now() + CACHED)


def request_followers(activity_id: int, url: str, digest: str) -> None:
    """Have the followers of an activity's actor looked at that are of this server, when follows that are on their way have
    arrived.
    """
    row = Fetch(kind=FetchKind.FOLLOWERS, uri=f"{url}#{digest}", host=origin_of(url) or "", activity_id=activity_id)
    _request(row, clock.now() + timedelta(minutes=1))


def request_actor(account: Account) -> None:
    """Have a remote account looked at again."""
    request_actors([account])


def request_actors(accounts: Iterable[Account]) -> int:
    """Have remote accounts looked at again; how many are."""
    rows = (Fetch(kind=FetchKind.ACTOR, uri=account.uri, host=origin_of(account.uri) or "") for account in accounts)
    return len(enqueue(*(row for row in rows if row.host)))


def request_profile(account: Account) -> None:
    """Have looked at what hangs on the profile of a remote account."""
    host = origin_of(account.uri) or ""
    collections = (account.featured_tags_url, account.followers_url, account.following_url, account.outbox_url)
    wanted = {
        FetchKind.PINS: account.featured_url,
        FetchKind.PROFILE: any(collections),
        FetchKind.COLLECTIONS: account.featured_collections_url,
    }
    enqueue(*(Fetch(kind=kind, uri=account.uri, host=host) for kind, there in wanted.items() if host and there))


def request_network(account: Account) -> None:
    """Have the featured hashtags and the network of a remote account looked at, whose profile has changed: whether the people
    are hidden stands in those documents alone. Once for all changes until what its server may have kept of them is over.
    """
    if any((account.featured_tags_url, account.followers_url, account.following_url, account.outbox_url)):
        row = Fetch(kind=FetchKind.PROFILE, uri=account.uri, host=origin_of(account.uri) or "")
        _request(row, clock.now() + CACHED)


def request_links(account: Account) -> None:
    """Have the links in the table of a remote account's profile verified that are not verified yet."""
    if links_to_verify(account.fields, local=False):
        _request(Fetch(kind=FetchKind.LINKS, uri=account.uri, host=origin_of(account.uri) or ""))


def request_members(collection: Collection, *, may_ask: bool) -> None:
    """Have the consent looked at of who is in a collection of another server and waits, and that of those shown in it which
    was not seen for CONSENT_PERIOD. People who are unknown here are asked for only if the caller `may_ask`: a stranger's
    collection makes this server look for nobody.
    """
    seen_long_ago = Q(checked_at=None) | Q(checked_at__lt=clock.now() - CONSENT_PERIOD)
    waiting = CollectionItem.objects.filter(
        Q(state=ItemState.PENDING) | Q(seen_long_ago, state=ItemState.ACCEPTED, account__domain__isnull=False),
        collection=collection,
        uri__isnull=False,
        approval_uri__isnull=False,
    )
    if not may_ask:
        waiting = waiting.filter(account__isnull=False)
    places = {str(item.uri): origin_of(item.object_uri) for item in waiting}
    known = Fetch.objects.filter(kind=FetchKind.FEATURED, uri__one_of=places).values_list("uri", flat=True)
    for uri in known:
        del places[uri]
    counted = count(FEATURED, subject=origin_of(str(collection.uri)) or "") if places else None
    if counted is not None and counted.exceeded:
        return
    named_by = str(collection.uri)
    rows = (
        Fetch(kind=FetchKind.FEATURED, uri=uri, host=host, wanted_by=_other(named_by, host))
        for uri, host in places.items()
        if host
    )
    enqueue(*rows)


def request_first_posts(events: Sequence[AccountFollowed]) -> None:
    """The reaction to AccountFollowed: posts and collections of somebody elsewhere whom nobody here has followed before are
    read, and the pinned posts again: those for followers are given to somebody who is one.
    """
    others = Follow.objects.filter(target=OuterRef("target"), account__domain=None).exclude(id=OuterRef("id"))
    follows = Follow.objects.select_related("target").filter(
        ~Exists(others), id__one_of=[event.follow_id for event in events], account__domain=None
    )
    for follow in follows:
        account, host = follow.target, origin_of(follow.target.uri) or ""
        wanted = {
            FetchKind.OUTBOX: account.outbox_url,
            FetchKind.COLLECTIONS: account.featured_collections_url,
            FetchKind.PINS: account.featured_url,
        }
        enqueue(*(Fetch(kind=kind, uri=account.uri, host=host) for kind, there in wanted.items() if host and there))


def request_for(activity: InboundActivity, host: str) -> None:
    """Have an activity worked off where documents can be waited for; the first is on `host`.

    Raises Unavailable when too much waits for that server, or because of the sender's.
    """
    wanted_by = _other(activity.actor.uri, host)
    if not _request(
        Fetch(kind=FetchKind.ACTIVITY, uri=str(activity.id), host=host, activity=activity, wanted_by=wanted_by)
    ):
        raise Unavailable(f"too much waits for {host}")


def may_look_up(host: str) -> bool:
    """Count a question to a server that somebody waits for; False when it was asked too much lately (security row 71)."""
    counted = count(LOOK_UPS, subject=host)
    return counted is None or not counted.exceeded


def _named(kind: FetchKind, uris: Iterable[str], named_by: str, **values: Any) -> list[Fetch]:
    """A row for each of these ids that has a host, once."""
    hosts = {uri: origin_of(uri) for uri in uris}
    return [
        Fetch(kind=kind, uri=uri, host=host, wanted_by=_other(named_by, host), **values)
        for uri, host in hosts.items()
        if host
    ]


def _other(named_by: str, host: str) -> str:
    """The server of what named `host`; empty where that is its own."""
    server = origin_of(named_by) or ""
    return "" if server == host else server


def _request(fetch: Fetch, due_at: datetime | None = None) -> bool:
    return bool(fetch.host and enqueue(fetch, due_at=due_at))


def record_contact(name: str) -> None:
    """A host that is left alone has sent us something: it is tried again now (contract, federation section 11).

    Announces DeliveriesDue.
    """
    with transaction.atomic():
        Host.objects.filter(name=name, retry_at__gt=Now()).update(retry_at=Now())
        Delivery.objects.filter(idle(), host=name, dead_at=None, due_at__gt=Now()).update(due_at=Now())
        publish(DeliveriesDue())
