"""Removes accounts that are at their end, in steps that may stop and go on anywhere.

Source: DESIGN "Erasure"; contract, federation section 7 "Delete actor". What others see or count goes through the services
that do it for one post, favourite or follow; the rows that then remain are removed by `social.kernel.erasure`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import Model, Q

from accounts.events import AccountDeleted, AccountErasureDue
from accounts.models import Account, AccountStat, CanonicalEmailBlock, Follow, FollowRequest, KeyPair, User
from accounts.models.remote_copy import CopyPurpose
from accounts.services.changing import change_account
from accounts.services.following import end_following, pair_name
from accounts.services.profile_pictures import remove_replaced
from accounts.services.remote_copies import forget_copies
from social.kernel import clock
from social.kernel.erasure import erase_related, erase_some
from social.kernel.events import publish
from social.kernel.locks import lock

#: Rows that one step handles, and seconds after which the rest is left to the next turn.
STEP: Final = 100
SLICE: Final = 5.0
#: How long after a look at what is still needed the next one comes.
NEXT_LOOK: Final = timedelta(minutes=5)

Step = Callable[[int], int]
"""Removes some of what belongs to the account with this id, at most STEP things, and says how many; 0 when nothing is left.

Each call is a transaction of its own, or several.
"""


@dataclass(frozen=True)
class Hold:
    """Rows of the tables `kept` outlast all others of an account, with its keys, for as long as `is_needed` says so."""

    kept: tuple[type[Model], ...]
    is_needed: Callable[[int], bool]


_steps: list[Step] = []
_holds: list[Hold] = []
_kept_of_suspended: set[type[Model]] = {KeyPair, AccountStat, User, CanonicalEmailBlock}


def register(*steps: Step) -> None:
    """Add steps, at the start of a process. Those of apps above run before those of the apps they build on."""
    _steps[:0] = [step for step in steps if step not in _steps]


def register_hold(hold: Hold) -> None:
    """Add a reason why something must outlast the rest, at the start of a process."""
    if hold not in _holds:
        _holds.append(hold)


def keep_of_suspended(*tables: type[Model]) -> None:
    """Name tables whose rows stay when what a suspended account had is erased and the account itself is not deleted: what
    staff know of it. At the start of a process.
    """
    _kept_of_suspended.update(tables)


def begin_erasure(events: Sequence[AccountDeleted]) -> None:
    """The reaction to AccountDeleted. Announces AccountErasureDue, which comes after all other reactions to it."""
    publish(*(AccountErasureDue(account_id=event.account_id) for event in events))


def go_on_erasing(events: Sequence[AccountErasureDue]) -> None:
    """The reaction to AccountErasureDue."""
    for account_id in dict.fromkeys(event.account_id for event in events):
        erase_account(account_id)


def erase_account(account_id: int) -> bool:
    """Remove everything of the account for SLICE seconds, or publish AccountErasureDue once more; whether all is gone.

    A step begins when those before it find nothing more. Of an account that is suspended and not deleted the rows of
    `keep_of_suspended` and its own stay. Nothing is done for one that is held, or whose suspension was undone: whoever
    releases the hold publishes AccountErasureDue.
    """
    account = Account.objects.filter(id=account_id).only("deleted_at", "erased_at", "held_at").first()
    if account is None:
        return True
    if account.held_at is not None or (account.deleted_at is None and account.erased_at is None):
        return False
    stays = account.deleted_at is None
    end = time.monotonic() + SLICE
    due_at = None
    while True:
        if all(not step(account_id) for step in _steps):
            needed = [hold for hold in _holds if hold.is_needed(account_id)]
            kept = {KeyPair, *(table for hold in needed for table in hold.kept), *(_kept_of_suspended if stays else ())}
            if not needed and not stays:
                if erase_some(Account, [account_id]):
                    return True
            elif erase_related(Account, [account_id], kept=kept):
                if not needed:
                    return True
                due_at = clock.now() + NEXT_LOOK
                break
        if time.monotonic() >= end:
            break
    with transaction.atomic():
        publish(AccountErasureDue(account_id=account_id), due_at=due_at)
    return False


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


#: What an account shows of itself, as it is without any of it.
_BLANK: Final = {
    "display_name": "",
    "note": "",
    "note_html": "",
    "fields": [],
    "avatar": "",
    "avatar_static": "",
    "avatar_remote_url": "",
    "avatar_description": "",
    "header": "",
    "header_static": "",
    "header_remote_url": "",
    "header_description": "",
    "also_known_as": [],
    "attribution_domains": [],
}


def _blank_profile(account_id: int) -> int:
    """Texts and pictures, whose files go too: the row may have to wait for others."""
    with transaction.atomic():
        account = Account.objects.select_for_update(no_key=True).filter(id=account_id).first()
        if account is None or all(getattr(account, name) == value for name, value in _BLANK.items()):
            return 0
        remove_replaced(account, _BLANK)
        urls = [url for url in (account.avatar_remote_url, account.header_remote_url) if url]
        forget_copies(purposes=(CopyPurpose.AVATAR, CopyPurpose.HEADER), urls=urls)
        change_account(account_id, **_BLANK)
    return 1


register(_end_relations, _blank_profile)
