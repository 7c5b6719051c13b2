"""Steps for `erasing`, `merging` and `archives` of accounts: posts, favourites, votes and files."""

from collections import defaultdict
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Q

from accounts.models import Account
from accounts.services import erasing
from accounts.transfers.services import archives, merging
from accounts.transfers.services.archive_files import ArchiveWriter
from social.kernel.media import storage
from statuses.models import InteractionRequest, MediaAttachment, Mention, Poll, PollVote, Status
from statuses.services.changing import BATCH_SIZE, change_statuses, forget_copies_of
from statuses.services.deleting import delete_statuses
from statuses.services.interactions import take_back_favourites

_POSTS_PER_STEP: Final = 10 * erasing.BATCH_SIZE


def _delete_posts(account_id: int) -> int:
    # One query finds the posts for several transactions, because each query has to scan past deleted posts, whose rows are kept
    # for thirty days.
    posts = Status.objects.filter(account_id=account_id, deleted_at=None).order_by("-id")
    ids = list(posts.values_list("id", flat=True)[:_POSTS_PER_STEP])
    for start in range(0, len(ids), erasing.BATCH_SIZE):
        delete_statuses(status_ids=ids[start : start + erasing.BATCH_SIZE], delete_media=True)
    return len(ids)


def _forget_requests(account_id: int) -> int:
    asked = InteractionRequest.objects.filter(Q(account_id=account_id) | Q(target_id=account_id)).order_by("id")
    ids = list(asked.values_list("id", flat=True)[:BATCH_SIZE])
    InteractionRequest.objects.filter(id__one_of=ids).delete()
    return len(ids)


def _take_back_votes(account_id: int) -> int:
    """Delete votes and subtract them from local polls; the counts of remote polls are reported by their servers."""
    with transaction.atomic():
        votes = PollVote.objects.filter(account_id=account_id).order_by("poll_id", "id")
        rows = list(votes.values_list("id", "poll_id", "choice")[: erasing.BATCH_SIZE])
        choices: dict[int, list[int]] = defaultdict(list)
        for _vote_id, poll_id, choice in rows:
            choices[poll_id].append(choice)
        # The same lock as in `vote`, always taken in the order of the ids.
        polls = Poll.objects.select_for_update(of=("self",)).filter(id__one_of=list(choices), status__local=True)
        locked = list(polls.order_by("id"))
        PollVote.objects.filter(id__one_of=[vote_id for vote_id, _poll_id, _choice in rows]).delete()
        voting = set(
            PollVote.objects.filter(account_id=account_id, poll_id__one_of=list(choices)).values_list("poll_id")
        )
        for poll in locked:
            for choice in choices[poll.id]:
                poll.tallies[choice] = max(poll.tallies[choice] - 1, 0)
            if (poll.id,) not in voting:
                poll.voters_count = max((poll.voters_count or 0) - 1, 0)
            poll.save(update_fields=["tallies", "voters_count"])
    return len(rows)


def _leave_posts_of_others(account_id: int) -> int:
    # Posts by others may mention the account or reply to it, and the cached bodies of these posts may name the account.
    with transaction.atomic():
        mentions = Mention.objects.filter(account_id=account_id).order_by("-status_id")
        mentioning = dict(mentions.values_list("id", "status_id")[: erasing.BATCH_SIZE])
        Mention.objects.filter(id__one_of=list(mentioning)).delete()
        change_statuses(set(mentioning.values()))
        rows = Status.objects.filter(in_reply_to_account_id=account_id).order_by("id")
        answers = list(rows.values_list("id", flat=True)[: erasing.BATCH_SIZE])
        change_statuses(answers, in_reply_to_account=None)
    return len(mentioning) + len(answers)


def _remove_files(account_id: int) -> int:
    # The files of posts have already been deleted with the posts.
    with transaction.atomic():
        rows = MediaAttachment.objects.select_for_update(skip_locked=True).filter(account_id=account_id)
        chosen = list(rows.order_by("id")[: erasing.BATCH_SIZE])
        files = [path for media in chosen for path in media.paths]
        forget_copies_of(chosen)
        MediaAttachment.objects.filter(id__one_of=[media.id for media in chosen]).delete()
        storage.remove_after_commit(*files)
    return len(chosen)


def _move(column: str, source: Account, target: Account) -> int:
    # Deleted posts are moved as well, because their ids can still be requested.
    moved, last = 0, 0
    rows = Status.objects.filter(**{column: source.id}).order_by("id").values_list("id", flat=True)
    # Continue after the last id, so that PostgreSQL need not step over the dead index entries of the posts already moved.
    while ids := list(rows.filter(id__gt=last)[:BATCH_SIZE]):
        change_statuses(ids, **{column: target.id})
        moved, last = moved + len(ids), ids[-1]
    return moved


_FILES_PER_STEP: Final = 10


def _write_media(account: Account, cursor: int, writer: ArchiveWriter) -> int | None:
    # Files have the names that the documents use; previews are left out, because they can be generated again.
    files = MediaAttachment.objects.filter(account=account, id__gt=cursor).exclude(file="").order_by("id")
    last = None
    for media in files[:_FILES_PER_STEP]:
        writer.add_stored(media.file, media.file)
        last = media.id
    return last


def register_steps() -> None:
    """Register these steps; the erasing steps run before the erasing steps of lower apps."""
    erasing.register(
        _delete_posts,
        lambda account_id: take_back_favourites(account_id=account_id, limit=erasing.BATCH_SIZE),
        _forget_requests,
        _take_back_votes,
        _leave_posts_of_others,
        _remove_files,
    )
    merging.register("posts", partial(_move, "account_id"), ("statuses.Status", "account"))
    merging.register("answers", partial(_move, "in_reply_to_account_id"), ("statuses.Status", "in_reply_to_account"))
    archives.register(archives.ArchivePart("media", _write_media))
