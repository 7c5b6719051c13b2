"""Pins one's own posts to one's profile, and takes them off it."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from social.kernel.errors import Invalid, NotFound
from social.kernel.locks import lock
from statuses.models import Pin
from statuses.policies.visibility import FOR_FOLLOWERS
from statuses.queries.rows import Row
from statuses.services.locking import lock_status

MOST: Final = 5
"""Pinned posts of an account (contract, behaviours section 7 "Pins")."""


def pin_status(*, account_id: int, status: Row) -> None:
    """Pin a post that the account may read, newest pin first.

    Raises Invalid with every reason that holds: not one's own, a boost, only for the addressed, MOST pinned already; and
    for a post that is pinned already (contract, parameters section 3 "Other status calls"). NotFound when it was deleted
    meanwhile.
    """
    with transaction.atomic():
        lock(f"pins:{account_id}")
        pinned = set(Pin.objects.filter(account_id=account_id).values_list("status_id", flat=True))
        reasons = []
        if status.original is not None:
            reasons.append(_("A boost cannot be pinned"))
        if status.proper.account_id != account_id:
            reasons.append(_("Someone else's post cannot be pinned"))
        if status.visibility not in FOR_FOLLOWERS:
            reasons.append(_("Posts that are only visible to mentioned users cannot be pinned"))
        if len(pinned) >= MOST:
            reasons.append(_("You have already pinned the maximum number of posts"))
        if reasons:
            raise Invalid.sentence(", ".join(reasons))
        if status.id in pinned:
            raise Invalid(_("Duplicate record"))
        if not lock_status(status.id):
            raise NotFound
        Pin.objects.create(account_id=account_id, status_id=status.id)


def unpin_status(*, account_id: int, status: Row) -> None:
    """Take a post off the account's profile. May be repeated; somebody else's pins stay."""
    Pin.objects.filter(account_id=account_id, status_id=status.id).delete()
