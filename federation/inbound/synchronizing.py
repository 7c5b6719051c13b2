"""Finds and repairs differences between the local followers that another server lists for its account and the follows known
here (FEP-8fcf; contract, federation section 9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import accept_requests, end_following, pair_name
from federation.documents.reading import Rejected, same_origin, uris_of
from federation.documents.synchronization import digest_of, read_header
from federation.events import UnknownFollowFound
from federation.reasons import Reason
from federation.remote.fetching import fetch_collection
from federation.remote.references import find_accounts_by_uri
from federation.remote.requests import request_followers
from social.kernel.events import publish
from social.kernel.locks import lock

PAGES: Final = 10


def compare_followers(activity_id: int, actor: Account, header: str) -> None:
    """Request the list of an actor's local followers from its server, if the digest in the header of its stored activity
    differs from ours.
    """
    found = read_header(header, actor)
    if found is None or settings.DISABLE_FOLLOWERS_SYNCHRONIZATION:
        return
    url, digest = found
    if digest != digest_of(_follows_of(actor).values_list("account__uri", flat=True)):
        request_followers(activity_id, url, digest)


def _follows_of(actor: Account) -> QuerySet[Follow]:
    return Follow.objects.filter(target=actor, account__domain=None)


def synchronize_followers(actor: Account, url: str, digest: str) -> None:
    """Change the local followers of an actor to those that the actor's server lists.

    The follow request of a listed account is accepted. A listed follow that is unknown here is ended on the actor's server,
    and a follow that is not listed is ended here. Raises Rejected when the list does not match the digest (follows have
    changed, or the list is incomplete), and Missing or Unavailable when the list cannot be fetched; nothing is changed then.
    """
    listed = _load_listed(url)
    if digest_of(listed) != digest:
        raise Rejected(Reason.OTHER_DIGEST)
    people = [account for account in find_accounts_by_uri(listed).values() if account.local]
    for account in people:
        with transaction.atomic():
            lock(pair_name(account.id, actor.id))
            request = FollowRequest.objects.filter(account=account, target=actor).first()
            if request is not None:
                accept_requests(request)
            elif not Follow.objects.filter(account=account, target=actor).exists():
                publish(UnknownFollowFound(account_id=account.id, target_id=actor.id))
    wrong = _follows_of(actor).exclude(account_id__one_of=[account.id for account in people])
    for follower_id in list(wrong.values_list("account_id", flat=True)):
        with transaction.atomic():
            lock(pair_name(follower_id, actor.id))
            end_following(follower_id, actor.id, ended_by_id=actor.id)


def _load_listed(url: str) -> set[str]:
    """Fetch the ids in a collection of at most PAGES pages, which must all be on the collection's server."""
    listed: set[str] = set()
    page: Any = url
    for _page in range(PAGES + 1):
        if not isinstance(page, Mapping):
            if not isinstance(page, str) or not same_origin(page, url):
                raise Rejected(Reason.PAGE_OF_OTHER_SERVER)
            page = fetch_collection(page)
        listed.update(uris_of(page.get("orderedItems") or page.get("items")))
        page = page.get("first") or page.get("next")
        if page is None:
            return listed
    raise Rejected(Reason.TOO_MANY_PAGES)
