"""Finds the local accounts whose followers are affected by changes of a remote post."""

from __future__ import annotations

from statuses.models import Quote, Status


def sharers_of(status: Status) -> set[int]:
    """Return the ids of the local accounts that have boosted or quoted a remote post, or whose post it answers: their followers
    are affected by its changes too (contract, federation section 11 "Forwarding").

    The result is empty if the post is neither public nor unlisted. Deleted boosts and quotes count: the followers' servers
    have received them.
    """
    if not status.is_for_anybody:
        return set()
    boosters = Status.objects.filter(reblog_of=status, local=True).values_list("account_id", flat=True)
    quoters = Quote.objects.filter(quoted_status=status, status__local=True).values_list(
        "status__account_id", flat=True
    )
    answered_posts = Status.objects.filter(id=status.in_reply_to_id or 0, local=True)
    return {*boosters, *quoters, *(parent.account_id for parent in answered_posts if parent.is_for_anybody)}
