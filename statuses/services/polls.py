"""Stores polls and counts votes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.policies.relations import Relations
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid, require_found
from social.kernel.events import publish
from statuses.events import PollEnded
from statuses.models import Poll, PollVote, Status
from statuses.policies.polls import PollDraft, check_vote, has_ended


def vote(*, account_id: int, poll: Poll, author_id: int, relations: Relations, choices: Sequence[int]) -> Poll:
    """Vote for the options at these places; the poll with the votes counted.

    `relations` are the account's to the author. All of the choices count or none does. Raises Forbidden when one of the
    two blocks the other, Invalid for one's own poll, one that has ended, an option that is not there and a vote too many,
    NotFound for a poll deleted meanwhile.
    """
    if relations.blocked_either_way(author_id):
        raise Forbidden
    if account_id == author_id:
        raise Invalid.sentence(_("You cannot vote in your own polls"))
    with transaction.atomic():
        # The row lock makes concurrent votes count one after the other.
        # Of the poll alone: an edit holds the post and asks for the poll then.
        polls = Poll.objects.select_for_update(of=("self",))
        locked = require_found(polls.filter(id=poll.id, status__deleted_at=None).first())
        if has_ended(locked.expires_at, clock.now()):
            raise Invalid.sentence(_("The poll has already ended"))
        already = list(
            PollVote.objects.filter(poll_id=locked.id, account_id=account_id).values_list("choice", flat=True)
        )
        check_vote(choices, already, options=len(locked.options), multiple=locked.multiple)
        for choice in choices:
            PollVote.objects.create(poll=locked, account_id=account_id, choice=choice)
            locked.tallies[choice] += 1
        if not already and choices:
            locked.voters_count = (locked.voters_count or 0) + 1
        locked.save(update_fields=["tallies", "voters_count"])
    return locked


def store_poll(status: Status, draft: PollDraft) -> Poll:
    """Write the checked poll of a new local post, in the caller's transaction. PollEnded is published for its end."""
    poll = Poll.objects.create(
        status=status,
        options=draft.choices,
        tallies=[0] * len(draft.choices),
        multiple=draft.multiple,
        hide_totals=draft.hide_totals,
        expires_at=_end(draft),
    )
    publish(PollEnded(poll_id=poll.id, status_id=status.id), due_at=poll.expires_at)
    return poll


def revise_poll(status: Status, draft: PollDraft | None) -> bool:
    """Give an edited post this checked poll, or none; whether that changes it. The caller holds the post's row.

    Other options drop all votes, as does another `multiple`, which must be repeated to stay the same (contract, parameters
    section 3). The end is counted from now. PollEnded is published for it.
    """
    poll = Poll.objects.select_for_update().filter(status=status).first()
    if draft is None:
        if poll is not None:
            poll.delete()
        return poll is not None
    if poll is None:
        store_poll(status, draft)
        return True
    said = draft.sent.get("multiple") not in (None, "")
    if draft.choices != poll.options or draft.multiple != poll.multiple or not said:
        PollVote.objects.filter(poll=poll).delete()
        poll.options, poll.tallies = draft.choices, [0] * len(draft.choices)
        poll.multiple, poll.voters_count = draft.multiple, 0
    poll.hide_totals = draft.hide_totals
    poll.expires_at = _end(draft)
    poll.save()
    publish(PollEnded(poll_id=poll.id, status_id=status.id), due_at=poll.expires_at)
    return True


def _end(draft: PollDraft) -> datetime | None:
    return None if draft.expires_in is None else clock.now() + timedelta(seconds=draft.expires_in)
