"""Stores polls and counts votes."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.policies.relations import Relations
from social.kernel import clock
from social.kernel.batches import BATCH
from social.kernel.errors import Forbidden, Invalid, require_found
from social.kernel.events import publish
from statuses.events import PollEnded, PollVoted, PollVotesDue
from statuses.models import Poll, PollVote, Status
from statuses.policies.polls import PollDraft, RemotePoll, check_vote, has_ended
from statuses.policies.posts import Post

ANNOUNCEMENT_DELAY: Final = timedelta(minutes=3)
"""Delay after a vote until the new counts are sent to other servers (contract, federation section 7 "Update Question")."""


def vote(*, account_id: int, poll: Poll, post: Post, relations: Relations, choices: Sequence[int]) -> Poll:
    """Vote for the options at these indexes in the poll of `post`, all or none, and return the poll with the votes counted.
    Raises Forbidden when the account or the author blocks the other, Invalid for the account's own poll, an ended poll, unknown
    options and too many votes, NotFound for a deleted poll. For a remote poll, publishes PollVoted, and PollEnded, which is due
    when the poll ends.
    """
    if relations.blocked_either_way(post.account_id):
        raise Forbidden
    if account_id == post.account_id:
        raise Invalid.sentence(_("You cannot vote in your own polls"))
    with transaction.atomic():
        # The row lock serialises concurrent votes. The post is not locked, because an edit locks the post and then the poll.
        polls = Poll.objects.select_for_update(of=("self",))
        locked = require_found(polls.filter(id=poll.id, status__deleted_at=None).first())
        if has_ended(locked.expires_at, clock.now()):
            raise Invalid.sentence(_("The poll has already ended"))
        already = list(
            PollVote.objects.filter(poll_id=locked.id, account_id=account_id).values_list("choice", flat=True)
        )
        check_vote(choices, already, options=len(locked.options), multiple=locked.multiple)
        if not choices:
            return locked
        if post.local:
            _announce_later(locked)
        elif not _has_votes_here(locked):
            _publish_end(locked)
        votes = PollVote.objects.bulk_create(
            (PollVote(poll=locked, account_id=account_id, choice=choice) for choice in choices), batch_size=BATCH
        )
        for choice in choices:
            locked.tallies[choice] += 1
        if not already:
            locked.voters_count = (locked.voters_count or 0) + 1
        locked.save(update_fields=["tallies", "voters_count", "announce_at"])
        if not post.local:
            publish(*(PollVoted(vote_id=row.id, status_id=locked.status_id) for row in votes))
    return locked


def _announce_later(poll: Poll) -> None:
    # The event is not published if an earlier vote has published it, or if the totals are hidden.
    if poll.announce_at is None and not poll.hide_totals:
        poll.announce_at = clock.now() + ANNOUNCEMENT_DELAY
        publish(PollVotesDue(poll_id=poll.id, status_id=poll.status_id), due_at=poll.announce_at)


def begin_announcement(poll_ids: Iterable[int]) -> None:
    """Clear `announce_at`, so that the next vote publishes PollVotesDue; the caller reads the votes afterwards, in the same
    transaction.
    """
    Poll.objects.filter(id__one_of=poll_ids).update(announce_at=None)


def _has_votes_here(poll: Poll) -> bool:
    return PollVote.objects.filter(poll=poll, account__domain=None).exists()


def _publish_end(poll: Poll) -> None:
    if poll.expires_at is not None:
        publish(PollEnded(poll_id=poll.id, status_id=poll.status_id), due_at=poll.expires_at)


def store_poll(status: Status, new: PollDraft | RemotePoll) -> None:
    """Write the checked poll of a new post, in the caller's transaction. For a local poll, publishes PollEnded, due when the
    poll ends; for a remote poll, `vote` does so when a local account votes.
    """
    if isinstance(new, RemotePoll):
        Poll.objects.create(status=status, **vars(new))
        return
    poll = Poll.objects.create(
        status=status,
        options=new.choices,
        tallies=[0] * len(new.choices),
        multiple=new.multiple,
        hide_totals=new.hide_totals,
        expires_at=_end_of_poll(new),
    )
    _publish_end(poll)


def revise_poll(status: Status, new: PollDraft | RemotePoll | None) -> bool:
    """Replace or remove the poll of an edited post, whose row is locked. Return whether the poll changes. All votes are dropped
    if the options or `multiple` change, and if a draft omits `multiple` (contract, parameters section 3). The duration in a
    draft counts from now; PollEnded is published.
    """
    poll = Poll.objects.select_for_update().filter(status=status).first()
    if new is None:
        if poll is not None:
            poll.delete()
        return poll is not None
    if poll is None:
        store_poll(status, new)
        return True
    if isinstance(new, RemotePoll):
        is_other = (poll.options, poll.multiple) != (new.options, new.multiple)
        if is_other:
            PollVote.objects.filter(poll=poll).delete()
        _refresh(poll, new)
        return is_other
    before = (poll.options, poll.multiple, poll.hide_totals, poll.expires_at)
    is_multiple_sent = new.sent.get("multiple") not in (None, "")
    if new.choices != poll.options or new.multiple != poll.multiple or not is_multiple_sent:
        PollVote.objects.filter(poll=poll).delete()
        poll.options, poll.tallies = new.choices, [0] * len(new.choices)
        poll.multiple, poll.voters_count = new.multiple, 0
    poll.hide_totals = new.hide_totals
    if not new.keeps_end:
        poll.expires_at = _end_of_poll(new)
        _publish_end(poll)
    poll.save()
    return before != (poll.options, poll.multiple, poll.hide_totals, poll.expires_at)


def refresh_poll(status: Status, new: PollDraft | RemotePoll | None) -> None:
    """Update the counts and end of a remote poll, unless its options were edited; the caller has locked the post's row."""
    if isinstance(new, RemotePoll):
        same = Poll.objects.filter(status=status, options=new.options, multiple=new.multiple)
        poll = same.select_for_update().first()
        if poll is not None:
            _refresh(poll, new)


def _refresh(poll: Poll, new: RemotePoll) -> None:
    has_moved = poll.expires_at != new.expires_at
    for name, value in vars(new).items():
        setattr(poll, name, value)
    poll.save()
    if has_moved and _has_votes_here(poll):
        _publish_end(poll)


def _end_of_poll(draft: PollDraft) -> datetime | None:
    return None if draft.expires_in is None else clock.now() + timedelta(seconds=draft.expires_in)
