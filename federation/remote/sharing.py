"""Finds the people here who have made posts of other servers known to their followers."""

from __future__ import annotations

from accounts.models import Account
from statuses.models import Quote, Status


def sharers_of(status: Status) -> set[int]:
    """The accounts here that a post of another server answers, has been boosted by or quoted by: what becomes of it concerns
    their followers too (contract, federation section 11 "Forwarding").

    Nobody for a post that is not for everybody. Boosts and quotes that were deleted count: their followers have them.
    """
    if not status.is_public:
        return set()
    boosters = Status.objects.filter(reblog_of=status, local=True).values_list("account_id", flat=True)
    quoters = Quote.objects.filter(quoted_status=status, status__local=True).values_list(
        "status__account_id", flat=True
    )
    answered = answered_account(status)
    return {*boosters, *quoters, *([answered.id] if answered is not None else [])}


def answered_account(status: Status) -> Account | None:
    """The account here whose post for everybody this one answers; None when it answers nothing of the kind."""
    parents = Status.objects.select_related("account").filter(id=status.in_reply_to_id or 0, local=True)
    parent = parents.first()
    return parent.account if parent is not None and parent.is_public else None
