"""Moves posts from one account to another that is the same person: a step of `accounts.services.merging`."""

from __future__ import annotations

from accounts.models import Account
from accounts.services import merging
from statuses.models import Status
from statuses.services.changing import BATCH, change_statuses


def _move_posts(source: Account, target: Account) -> int:
    """Posts, deleted ones too: they are known by their ids."""
    return _move("account_id", source, target)


def _move_answers(source: Account, target: Account) -> int:
    """Answers to the first account name the second."""
    return _move("in_reply_to_account_id", source, target)


def _move(column: str, source: Account, target: Account) -> int:
    moved = 0
    rows = Status.objects.filter(**{column: source.id}).order_by("id").values_list("id", flat=True)
    while ids := list(rows[:BATCH]):
        change_statuses(ids, **{column: target.id})
        moved += len(ids)
    return moved


def register_steps() -> None:
    """Add these steps."""
    merging.register("posts", _move_posts, ("statuses.Status", "account"))
    merging.register("answers", _move_answers, ("statuses.Status", "in_reply_to_account"))
