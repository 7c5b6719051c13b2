"""Compares the followers that another server lists with the follows known here, and repairs differences (FEP-8fcf)."""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import accept_requests, end_following, pair_name
from federation.documents import reading, synchronization
from federation.events import UnknownFollowFound
from federation.reasons import Reason, Rejected
from federation.remote import fetching, references, requests
from social.kernel import events, locks

PAGES: Final = 10


def compare_followers(activity_id: int, actor: Account, header: str) -> None:
    """Request the list of an actor's local followers from its server if the digest in the header differs from ours."""
    url_and_digest = synchronization.read_header(header, actor)
    if url_and_digest is None or settings.DISABLE_FOLLOWERS_SYNCHRONIZATION:
        return
    url, digest = url_and_digest
    if digest != synchronization.digest_of(_follows_of(actor).values_list("account__uri", flat=True)):
        requests.request_followers(activity_id, url, digest)


def _follows_of(actor: Account) -> QuerySet[Follow]:
    return Follow.objects.filter(target=actor, account__domain=None)


def synchronize_followers(actor: Account, url: str, digest: str) -> None:
    """Make the local followers of an actor match those that the actor's server lists.

    A pending follow request of a listed account is accepted. A listed follow that is unknown here is ended on the actor's
    server; a follow that is not listed is ended here. Raises Rejected when the list does not match the digest, and Missing or
    Unavailable when the list cannot be fetched; nothing is changed then.
    """
    listed = _load_listed(url)
    if synchronization.digest_of(listed) != digest:
        raise Rejected(Reason.OTHER_DIGEST)
    people = [account for account in references.find_accounts_by_uri(listed).values() if account.local]
    for account in people:
        with transaction.atomic():
            locks.lock(pair_name(account.id, actor.id))
            request = FollowRequest.objects.filter(account=account, target=actor).first()
            if request is not None:
                accept_requests(request)
            elif not Follow.objects.filter(account=account, target=actor).exists():
                events.publish(UnknownFollowFound(account_id=account.id, target_id=actor.id))
    unlisted = _follows_of(actor).exclude(account_id__one_of=[account.id for account in people])
    for follower_id in list(unlisted.values_list("account_id", flat=True)):
        with transaction.atomic():
            locks.lock(pair_name(follower_id, actor.id))
            end_following(follower_id, actor.id, ended_by_id=actor.id)


def _load_listed(url: str) -> set[str]:
    """Fetch the ids in a collection of at most PAGES pages. All pages must be on the collection's server."""
    listed: set[str] = set()
    page: Any = url
    for _page in range(PAGES + 1):
        if not isinstance(page, Mapping):
            if not isinstance(page, str) or not reading.same_origin(page, url):
                raise Rejected(Reason.PAGE_OF_OTHER_SERVER)
            page = fetching.fetch_collection(page)
        listed.update(reading.uris_of(page.get("orderedItems") or page.get("items")))
        page = page.get("first") or page.get("next")
        if page is None:
            return listed
    raise Rejected(Reason.TOO_MANY_PAGES)
