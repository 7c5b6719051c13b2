"""Removes what is left of an account whose own server has deleted it, in steps that may stop and go on anywhere.

Source: contract, federation section 7 "Delete actor"; DESIGN "Erasure". What others see or count goes through the services
that do it for one post, favourite or follow; the rows that then remain are removed by `social.kernel.erasure`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from django.db import transaction
from django.db.models import Q

from accounts.models import Account, Follow, FollowRequest
from accounts.services.following import end_following, pair_name
from federation.events import ActorDeleted
from social.kernel.erasure import erase_some
from social.kernel.errors import NotFound
from social.kernel.events import publish
from social.kernel.locks import lock
from statuses.models import Favourite, Status
from statuses.services.deleting import delete_status
from statuses.services.interactions import unfavourite_status

#: Things that one step takes in hand, and seconds after which the rest is left to the next turn.
STEP: Final = 100
SLICE: Final = 5.0


def erase_actor(account_id: int) -> bool:
    """Remove everything of the account for SLICE seconds, or announce ActorDeleted once more; whether it is gone."""
    end = time.monotonic() + SLICE
    while True:
        if all(not step(account_id) for step in _STEPS) and erase_some(Account, [account_id]):
            return True
        if time.monotonic() >= end:
            break
    with transaction.atomic():
        publish(ActorDeleted(account_id=account_id))
    return False


def _delete_posts(account_id: int) -> int:
    posts = Status.objects.filter(account_id=account_id, deleted_at=None).order_by("id")
    chosen = list(posts.values_list("id", flat=True)[:STEP])
    for status_id in chosen:
        delete_status(status_id=status_id, delete_media=True)
    return len(chosen)


def _take_back_favourites(account_id: int) -> int:
    rows = Favourite.objects.filter(account_id=account_id).order_by("id")
    chosen: Sequence[tuple[int, int]] = list(rows.values_list("id", "status_id")[:STEP])
    for favourite_id, status_id in chosen:
        try:
            unfavourite_status(account_id=account_id, status_id=status_id)
        except NotFound:
            # One of a post that the account may not see any more.
            Favourite.objects.filter(id=favourite_id).delete()
    return len(chosen)


def _end_relations(account_id: int) -> int:
    pairs: list[tuple[int, int]] = []
    for model in (Follow, FollowRequest):
        rows = model._default_manager.filter(Q(account_id=account_id) | Q(target_id=account_id)).order_by("id")
        pairs += rows.values_list("account_id", "target_id")[:STEP]
    for follower_id, target_id in sorted(set(pairs)):
        with transaction.atomic():
            lock(pair_name(follower_id, target_id))
            end_following(follower_id, target_id, ended_by_id=account_id)
    return len(pairs)


#: Each does up to STEP things and says how many; a step begins when those before it find nothing more.
_STEPS: Final[Sequence[Callable[[int], int]]] = (_delete_posts, _take_back_favourites, _end_relations)
