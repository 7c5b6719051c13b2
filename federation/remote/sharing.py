"""Finds the people here who have made posts of other servers known to their followers."""

from __future__ import annotations

from statuses.models import Quote, Status


def sharers_of(status: Status) -> set[int]:
    """The accounts here that a post of another server answers, has been boosted by or quoted by: what becomes of it concerns
    their followers too (contract, federation section 11 "Forwarding").

    Nobody for a post that is not for everybody. Boosts and quotes that were deleted count: their followers have them.
    """
    if not status.is_for_anybody:
        return set()
    boosters = Status.objects.filter(reblog_of=status, local=True).values_list("account_id", flat=True)
    quoters = Quote.objects.filter(quoted_status=status, status__local=True).values_list(
        "status__account_id", flat=True
    )
    answered = Status.objects.filter(id=status.in_reply_to_id or 0, local=True)
    return {*boosters, *quoters, *(parent.account_id for parent in answered if parent.is_for_anybody)}
