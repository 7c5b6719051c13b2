"""Reads strikes and the appeals against them."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import QuerySet

from moderation.models import Appeal, Strike
from social.kernel.errors import NotFound


def load_strikes(strike_ids: Collection[int]) -> dict[int, Strike]:
    """The strikes with these ids."""
    if not strike_ids:
        return {}
    return {strike.id: strike for strike in Strike.objects.filter(id__one_of=list(strike_ids))}


def load_appeals(strike_ids: Collection[int]) -> dict[int, Appeal]:
    """The appeals against these strikes, by the id of the strike."""
    if not strike_ids:
        return {}
    return {appeal.strike_id: appeal for appeal in Appeal.objects.filter(strike_id__one_of=list(strike_ids))}


def list_strikes(account_id: int | None) -> QuerySet[Strike]:
    """The strikes against an account (None: any), newest first, with their appeals and the person concerned."""
    found = Strike.objects.select_related("appeal", "target_account__user").order_by("-id")
    return found if account_id is None else found.filter(target_account_id=account_id)


def find_strike(account_id: int, strike_id: int) -> Strike:
    """A strike against this account, with its appeal. Raises NotFound for anybody else's."""
    strike = list_strikes(account_id).filter(id=strike_id).first()
    if strike is None:
        raise NotFound
    return strike
