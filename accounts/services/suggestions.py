"""Keeps accounts out of suggestions, for staff."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, SuppressedSuggestion
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record


def suppress_suggestions(*, by: Staff, account: Account) -> None:
    """Keep an account out of suggestions, unless staff chose it. Raises Forbidden without MANAGE_TAXONOMIES."""
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        _row, created = SuppressedSuggestion.objects.get_or_create(account=account)
        if created:
            _record(by, "suppress_suggestions", account)


def restore_suggestions(*, by: Staff, account: Account) -> None:
    """Undo `suppress_suggestions`. Raises Forbidden without MANAGE_TAXONOMIES."""
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        deleted, _rows = SuppressedSuggestion.objects.filter(account=account).delete()
        if deleted:
            _record(by, "restore_suggestions", account)


def _record(by: Staff, action: str, account: Account) -> None:
    record(by=by, action=action, target_type="Account", target_id=account.id, target_name=f"@{account.acct}")
