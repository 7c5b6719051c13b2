"""Writes down what staff do. The services that do it call this, so that no way around it exists."""

from __future__ import annotations

from typing import Any

from accounts.models import AuditEntry
from accounts.policies.staff import Staff


def record(*, by: Staff, action: str, target_type: str, target_id: int, target_name: str, **details: Any) -> None:
    """Add a row, in the transaction of what was done. `action` is a verb, `target_type` the entity (`User`, `Status`)."""
    AuditEntry.objects.create(
        account_id=by.account_id,
        account_name=by.name,
        action=action,
        target_type=target_type,
        target_id=target_id,
        target_name=target_name,
        details=details,
    )
