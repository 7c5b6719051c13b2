"""Turns what happened in the apps below into notifications; every function is the reaction to one kind of event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.db.models import Exists, OuterRef

from accounts.events import (
    AccountBlocked,
    AccountFollowed,
    AccountMuted,
    AccountUnfollowed,
    DomainBlocked,
    FollowRequested,
)
from accounts.models import Follow, FollowRequest
from accounts.queries.relations import blocks_domain, load_block_pairs, load_relations
from notifications.events import FollowersWaiting
from notifications.models import Notification, NotificationType
from notifications.services.notifying import Note, notify, remove_between, remove_from_domain, take_back
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.plans import IDS, Plan
from statuses.events import StatusDeleted, StatusFavourited, StatusPublished, StatusReblogged, StatusUnfavourited
from statuses.models import Favourite, Mention, Status
from statuses.policies.visibility import FOR_FOLLOWERS

STEP: Final = 200
"""Followers notified in one transaction."""

NEWS: Final = timedelta(days=1)
_FAVOURITES = Plan(
    lambda: Favourite.objects.filter(id__one_of=IDS, status__deleted_at=None).values_list(
        "id", "account_id", "status_id", "status__account_id"
    )
)


def notify_followed(events: Sequence[AccountFollowed]) -> None:
    """A new follower; an accepted request ends what was told of the request (contract, behaviours section 13)."""
    # A pair that is not among the events matches too if its request is gone; it would be news no more either.
    waiting = FollowRequest.objects.filter(account_id=OuterRef("from_account_id"), target_id=OuterRef("account_id"))
    Notification.objects.filter(
        ~Exists(waiting),
        account_id__one_of=[event.target_id for event in events],
        from_account_id__one_of=[event.account_id for event in events],
        type=NotificationType.FOLLOW_REQUEST,
    ).delete()
    follows = Follow.objects.filter(id__one_of=[event.follow_id for event in events])
    notify(
        [
            Note(follow.target_id, follow.account_id, NotificationType.FOLLOW, f"follow:{follow.id}")
            for follow in follows
        ]
    )


def notify_follow_requested(events: Sequence[FollowRequested]) -> None:
    """Somebody asks to follow a locked account."""
    requests = FollowRequest.objects.filter(id__one_of=[event.request_id for event in events])
    notify(
        [
            Note(row.target_id, row.account_id, NotificationType.FOLLOW_REQUEST, f"follow_request:{row.id}")
            for row in requests
        ]
    )


def forget_follow(events: Sequence[AccountUnfollowed]) -> None:
    """The follow, or the request to, has ended before it was read of, or after: it is no news any more."""
    for event in events:
        # The number is that of a follow or of a request: only between these two people does it name one row.
        take_back(
            (f"follow:{event.follow_id}", f"follow_request:{event.follow_id}"),
            account_id=event.target_id,
            from_account_id=event.account_id,
        )


def notify_mentioned(events: Sequence[StatusPublished]) -> None:
    """Everybody a post mentions, unless it mentions or answers somebody they block; those addressed silently are not told."""
    mentions = (
        Mention.objects.select_related("status")
        .filter(status_id__one_of=[event.status_id for event in events], status__deleted_at=None)
        .order_by("status_id", "id")
    )
    involved: dict[int, set[int]] = defaultdict(set)
    for mention in mentions:
        involved[mention.status_id].add(mention.account_id)
        if mention.status.in_reply_to_account_id is not None:
            involved[mention.status_id].add(mention.status.in_reply_to_account_id)
    notify(
        [
            Note(
                mention.account_id,
                mention.status.account_id,
                NotificationType.MENTION,
                f"mention:{mention.id}",
                mention.status_id,
                frozenset(involved[mention.status_id] - {mention.account_id, mention.status.account_id}),
            )
            for mention in mentions
            if not mention.silent
        ]
    )


def notify_followers(events: Sequence[StatusPublished]) -> None:
    """Those who follow an author with `notify`: of posts, of answers only to themselves (behaviours section 13, `status`).

    What was written more than a day before it arrived is not told: it is no news.
    """
    posts = [
        status
        for status in Status.objects.filter(
            id__one_of=[event.status_id for event in events],
            deleted_at=None,
            visibility__in=FOR_FOLLOWERS,
            created_at__gt=clock.now() - NEWS,
        ).order_by("id")
        if status.in_reply_to_account_id in (None, status.account_id) and status.in_reply_to_uri is None
    ]
    authors = {status.account_id for status in posts}
    awaited = set(
        Follow.objects.filter(target_id__one_of=list(authors), notify=True)
        .values_list("target_id", flat=True)
        .distinct()
    )
    for status in posts:
        if status.account_id in awaited:
            _notify_followers(status, after_id=0)


def notify_more_followers(events: Sequence[FollowersWaiting]) -> None:
    """The next step of `notify_followers`."""
    for event in events:
        for status in Status.objects.filter(id=event.status_id, deleted_at=None):
            _notify_followers(status, after_id=event.after_id)


def _notify_followers(status: Status, *, after_id: int) -> None:
    follows = list(
        Follow.objects.filter(target_id=status.account_id, notify=True, account__domain=None, id__gt=after_id).order_by(
            "id"
        )[:STEP]
    )
    notify(
        [
            Note(follow.account_id, status.account_id, NotificationType.STATUS, f"status:{status.id}", status.id)
            for follow in follows
            if not follow.languages or not status.language or status.language in follow.languages
        ]
    )
    if len(follows) == STEP:
        publish(FollowersWaiting(status_id=status.id, after_id=follows[-1].id))


def notify_reblogged(events: Sequence[StatusReblogged]) -> None:
    """The author of a boosted post."""
    boosts = Status.objects.select_related("reblog_of").filter(
        id__one_of=[event.reblog_id for event in events], deleted_at=None, reblog_of__deleted_at=None
    )
    notify(
        [
            Note(
                boost.reblog_of.account_id,
                boost.account_id,
                NotificationType.REBLOG,
                f"reblog:{boost.id}",
                boost.reblog_of_id,
            )
            for boost in boosts
            if boost.reblog_of is not None
        ]
    )


def notify_favourited(events: Sequence[StatusFavourited]) -> None:
    """The author of a favourited post."""
    notify(
        [
            Note(author_id, account_id, NotificationType.FAVOURITE, f"favourite:{number}", status_id)
            for number, account_id, status_id, author_id in _FAVOURITES.run(
                ids=[event.favourite_id for event in events]
            )
        ]
    )


def forget_favourite(events: Sequence[StatusUnfavourited]) -> None:
    """The favourite was taken back."""
    take_back(f"favourite:{event.favourite_id}" for event in events)


def forget_status(events: Sequence[StatusDeleted]) -> None:
    """A post is gone: what was told of it goes too; an undone boost takes its own notification back."""
    Notification.objects.filter(status_id__one_of=[event.status_id for event in events]).delete()
    take_back(f"reblog:{event.status_id}" for event in events)


def forget_blocked(events: Sequence[AccountBlocked]) -> None:
    """Blocking removes what both were told of each other (SEED-130); an undone block leaves things alone."""
    pairs = {(event.account_id, event.target_id) for event in events}
    for account_id, target_id in pairs & load_block_pairs([event.block_id for event in events]):
        remove_between(account_id=account_id, from_account_id=target_id)
        remove_between(account_id=target_id, from_account_id=account_id)


def forget_blocked_domains(events: Sequence[DomainBlocked]) -> None:
    """Blocking a server removes what one was told of its people."""
    for event in events:
        if blocks_domain(event.account_id, event.domain):
            remove_from_domain(account_id=event.account_id, domain=event.domain)


def forget_muted(events: Sequence[AccountMuted]) -> None:
    """Muting with notifications removes the old ones."""
    for event in events:
        mute = load_relations(event.account_id, [event.target_id]).muting.get(event.target_id)
        if mute is not None and mute.hide_notifications:
            remove_between(account_id=event.account_id, from_account_id=event.target_id)
