"""Removes accounts that are at their end, a slice of time after another."""

from __future__ import annotations

from collections.abc import Sequence

from federation.events import ActorDeleted
from federation.inbound.erasing import erase_actor


def erase(events: Sequence[ActorDeleted]) -> None:
    """One slice for each account; queue "default"."""
    for account_id in dict.fromkeys(event.account_id for event in events):
        erase_actor(account_id)
