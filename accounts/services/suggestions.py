"""Keeps which suggestions somebody does not want to see again."""

from __future__ import annotations

from accounts.models import Account, DismissedSuggestion


def dismiss_suggestion(*, account_id: int, target_id: int) -> None:
    """Never suggest `target_id` to `account_id` again; unknown accounts and repetitions are no errors."""
    if Account.objects.filter(id=target_id).exists():
        DismissedSuggestion.objects.get_or_create(account_id=account_id, target_id=target_id)
