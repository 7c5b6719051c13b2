"""Remembers who uses this server: feeds are written for people active in the last seven days only."""

from __future__ import annotations

from accounts.models import User
from social.kernel import clock, redis
from timelines.stores import feed


def record_presence(*account_ids: int) -> None:
    """Mark the users of these accounts as active now.

    Called when `timelines.stores.feed` does not remember that it was, so about twice a day for each reader, and when a
    stream is opened.
    """
    User.objects.filter(account_id__one_of=account_ids).update(active_at=clock.now())
    with redis.best_effort("remember who is present"):
        for account_id in account_ids:
            feed.mark_present(account_id)


def record_arrival(account_id: int) -> None:
    """Mark the user as active if that has not been done in the last twelve hours."""
    with redis.best_effort("see who is present"):
        if feed.is_present(account_id):
            return
    record_presence(account_id)
