"""Mutes threads: who has done so gets no notifications of anything in them."""

from __future__ import annotations

from statuses.models import ConversationMute, Status
from statuses.queries.rows import Row


def mute_conversation(*, account_id: int, status: Row) -> None:
    """Mute the thread of a post that the account may read; of a boost that of the boosted post. May be repeated."""
    mute = ConversationMute(account_id=account_id, thread_id=_thread_of(status))
    ConversationMute.objects.bulk_create([mute], batch_size=1, ignore_conflicts=True)


def unmute_conversation(*, account_id: int, status: Row) -> None:
    """Take that back. May be repeated."""
    ConversationMute.objects.filter(account_id=account_id, thread_id=_thread_of(status)).delete()


def _thread_of(status: Row) -> int:
    found = Status.objects.filter(id=status.proper.id).values_list("thread_id", flat=True).first()
    return found or status.proper.id
