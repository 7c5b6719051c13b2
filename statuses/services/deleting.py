"""Deletes posts, and removes the rows of posts deleted long ago, except rows that another app needs (`keep`)."""

from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q

from accounts.models import FeaturedTag
from accounts.services import changing as account_counters
from accounts.services.tags import count_featured_use
from social.kernel import clock
from social.kernel.events import publish
from social.kernel.media import storage
from statuses.events import AnswersOutlived, BoostsOutlived, StatusDeleted
from statuses.models import MediaAttachment, Pin, Quote, QuoteState, Status, StatusCard, StatusTag
from statuses.policies.interactions import is_pending
from statuses.policies.visibility import is_counted
from statuses.services.changing import Counter, bump, change_statuses, forget_copies_of

BATCH_SIZE: Final = 500
"""Maximum number of boosts deleted, of replies detached, or of old rows removed, in one transaction."""

RETENTION: Final = timedelta(days=30)
"""Time for which the row of a deleted post is kept (contract, behaviours section 18 "Deletion windows")."""

Keeper = Callable[[Collection[int]], set[int]]
_KEEPERS: list[Keeper] = []


def delete_status(*, status_id: int, delete_media: bool = False) -> None:
    """Delete a post or a boost, and every boost of it. Does nothing if the post is already deleted. Publishes StatusDeleted.

    The row stays, but is never shown. Files can be posted again for a day, unless `delete_media` removes them (contract,
    behaviours section 7 "Deleting"). Replies are detached from the thread, and refer only to the account that they reply to;
    replies that await approval are deleted. The call handles at most BATCH_SIZE boosts and replies; the rest are handled in
    further steps (BoostsOutlived, AnswersOutlived).
    """
    delete_statuses(status_ids=[status_id], delete_media=delete_media)


def delete_statuses(*, status_ids: Collection[int], delete_media: bool = False) -> int:
    """Delete up to BATCH_SIZE posts in one transaction, each as `delete_status` does. Return how many posts this call deleted.
    The number of statements depends on how many counters change, not on the number of posts.
    """
    assert len(status_ids) <= BATCH_SIZE  # the caller divides more posts into batches
    with transaction.atomic():
        # Because of the row locks, concurrent deletions count once, and these events come after earlier events about the posts.
        rows = Status.objects.select_for_update(of=("self",)).filter(id__one_of=list(status_ids), deleted_at=None)
        locked = list(rows.order_by("id"))
        ids = [status.id for status in locked]
        if not ids:
            return 0
        change_statuses(ids, deleted_at=clock.now())
        boosters = _delete_boosts(ids)
        _detach_answers(ids)
        Pin.objects.filter(status_id__one_of=ids).delete()
        StatusCard.objects.filter(status_id__one_of=ids).delete()
        owners, files = _release_media(ids, delete_media=delete_media)
        publish(
            *(
                StatusDeleted(
                    status_id=status.id,
                    account_id=status.account_id,
                    local=status.local,
                    reblog_of_id=status.reblog_of_id,
                    had_files=status.id in owners,
                )
                for status in locked
            )
        )
        uncount_featured_tags(locked)
        uncount(locked, accepted_quotes(ids), set(ids), booster_ids=boosters)
        storage.remove_after_commit(*files)
    return len(ids)


def delete_more_boosts(events: Sequence[BoostsOutlived]) -> None:
    """Delete the next batch of boosts of deleted posts."""
    for status_id in {event.status_id for event in events}:
        with transaction.atomic():
            boosters = Tally(_delete_boosts([status_id]))
            account_counters.bump({(booster, "statuses_count"): -number for booster, number in boosters.items()})


def _delete_boosts(status_ids: Sequence[int]) -> list[int]:
    # Returns the ids of the boosts' authors, whose counters the caller updates last.
    rows = Status.objects.filter(reblog_of_id__one_of=list(status_ids), deleted_at=None)
    # The boosts are chosen in the order of the index, and then locked in the order of their ids, as everywhere else.
    ids = list(rows.order_by("reblog_of_id", "-id").values_list("id", flat=True)[:BATCH_SIZE])
    locked = Status.objects.select_for_update(of=("self",)).filter(id__one_of=ids, deleted_at=None)
    boosts = dict(locked.order_by("id").values_list("id", "account_id"))
    change_statuses(boosts, deleted_at=clock.now())
    if len(ids) == BATCH_SIZE:
        publish(*(BoostsOutlived(status_id=status_id) for status_id in status_ids))
    return list(boosts.values())


def detach_more_answers(events: Sequence[AnswersOutlived]) -> None:
    """Detach the next batch of replies to deleted posts."""
    for status_id in {event.status_id for event in events}:
        with transaction.atomic():
            _detach_answers([status_id])


def _detach_answers(status_ids: Sequence[int]) -> None:
    rows = Status.objects.filter(in_reply_to_id__one_of=list(status_ids))
    ids = list(rows.order_by("in_reply_to_id", "id").values_list("id", flat=True)[:BATCH_SIZE])
    locked = Status.objects.select_for_update(of=("self",)).filter(id__one_of=ids).order_by("id")
    policies = dict(locked.values_list("id", "interaction_policy"))
    change_statuses(policies, in_reply_to=None)
    # Replies that await approval are deleted, because nobody could approve them any more.
    if waiting := [number for number, policy in policies.items() if is_pending(policy)]:
        delete_statuses(status_ids=waiting)
    if len(ids) == BATCH_SIZE:
        publish(*(AnswersOutlived(status_id=status_id) for status_id in status_ids))


def _release_media(status_ids: Sequence[int], *, delete_media: bool) -> tuple[set[int | None], list[str]]:
    # Returns the ids of the posts that had files, and the paths of stored files to which no row refers any more.
    ids = list(status_ids)
    attached = MediaAttachment.objects.filter(Q(status_id__one_of=ids) | Q(former_status_id__one_of=ids))
    found = list(attached)
    owners = {media.status_id or media.former_status_id for media in found}
    if not found:
        return owners, []
    if not delete_media:
        attached.update(status=None, former_status=None, unattached_at=clock.now())
        return owners, []
    files = [path for media in found for path in media.paths]
    forget_copies_of(found)
    attached.delete()
    return owners, files


def uncount_featured_tags(statuses: Sequence[Status]) -> None:
    """Subtract the posts from the counts of the hashtags that their authors feature on their profiles."""
    counted_posts = {status.id: status for status in statuses if status.local and status.is_for_anybody}
    authors = {status.account_id for status in counted_posts.values()}
    featured_pairs = set(FeaturedTag.objects.filter(account_id__one_of=authors).values_list("account_id", "tag_id"))
    if not featured_pairs:
        return
    uses: dict[tuple[int, int], list[Status]] = defaultdict(list)
    for status_id, tag_id in StatusTag.objects.filter(status_id__one_of=counted_posts).values_list(
        "status_id", "tag_id"
    ):
        uses[counted_posts[status_id].account_id, tag_id].append(counted_posts[status_id])
    for (account_id, tag_id), posts in sorted(uses.items(), key=lambda item: item[0]):
        if (account_id, tag_id) in featured_pairs:
            count_featured_use(account_id, [tag_id], posts[-1].created_at, -len(posts))


def accepted_quotes(status_ids: Sequence[int]) -> list[int]:
    """Return the ids of the posts that these posts quote with the quoted authors' consent, one id for each quote."""
    quotes = Quote.objects.filter(status_id__one_of=list(status_ids), state=QuoteState.ACCEPTED)
    return [number for number in quotes.values_list("quoted_status_id", flat=True) if number is not None]


def uncount(
    statuses: Sequence[Status], quoted_ids: Iterable[int], gone_ids: Collection[int], *, booster_ids: Iterable[int] = ()
) -> None:
    """Subtract deleted posts from the counters of their authors, parents, boosted posts and quoted posts, and deleted boosts
    from the counters of `booster_ids`. Counters of the posts `gone_ids` are not changed. Called last in the caller's
    transaction.
    """
    authors = Tally(booster_ids)
    changes: Tally[tuple[int, Counter]] = Tally()
    for status in statuses:
        if is_counted(status.visibility):
            authors[status.account_id] += 1
        if status.reblog_of_id is not None:
            changes[status.reblog_of_id, "reblogs_count"] -= 1
        elif status.in_reply_to_id is not None and status.is_for_anybody:
            changes[status.in_reply_to_id, "replies_count"] -= 1
            if status.local:
                changes[status.in_reply_to_id, "remote_replies_count"] -= 1
    for quoted_id in quoted_ids:
        changes[quoted_id, "quotes_count"] -= 1
    account_counters.bump({(account_id, "statuses_count"): -number for account_id, number in authors.items()})
    bump({key: change for key, change in changes.items() if key[0] not in gone_ids})


def keep(keeper: Keeper) -> None:
    """Register a function that returns which posts must not be removed, for example posts that staff review."""
    if keeper not in _KEEPERS:
        _KEEPERS.append(keeper)


def remove_deleted_statuses(now: datetime | None = None) -> int:
    """Remove rows of posts deleted more than RETENTION ago, at most BATCH_SIZE; return how many. Run hourly."""
    end = (now or clock.now()) - RETENTION
    with transaction.atomic():
        rows = Status.objects.filter(deleted_at__lt=end).order_by("deleted_at")
        window = list(rows.values_list("id", flat=True)[:BATCH_SIZE])
        return remove_rows(sorted(set(window) - kept_ids(window)))


def kept_ids(status_ids: Collection[int]) -> set[int]:
    """Return the ids of the posts whose rows an app of a higher layer needs."""
    return {number for keeper in _KEEPERS for number in keeper(status_ids)}


def remove_rows(status_ids: Sequence[int]) -> int:
    """Remove these rows with their boosts and files, in the caller's transaction; update counters; return how many."""
    if not status_ids:
        return 0
    boosts = Status.objects.filter(reblog_of_id__one_of=list(status_ids))
    ids = sorted({*status_ids, *boosts.values_list("id", flat=True)})
    living = list(Status.objects.filter(id__one_of=ids, deleted_at=None).select_related(None))
    quoted = accepted_quotes([status.id for status in living])
    media = MediaAttachment.objects.filter(Q(status_id__one_of=ids) | Q(former_status_id__one_of=ids))
    files = [path for item in media for path in item.paths]
    forget_copies_of(media)
    media.delete()
    Status.objects.filter(id__one_of=ids).delete()
    uncount(living, quoted, set(ids))
    storage.remove_after_commit(*files)
    return len(ids)
