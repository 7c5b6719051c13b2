"""What staff do to posts."""

from __future__ import annotations

from django.db import transaction

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from statuses.models import Status
from statuses.services.deleting import delete_status


def remove_status(*, by: Staff, status: Status) -> None:
    """Delete a post, whose account is loaded, as its author could, and write the audit row. Raises Forbidden."""
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        delete_status(status_id=status.id)
        record(
            by=by, action="destroy", target_type="Status", target_id=status.id, target_name=f"@{status.account.acct}"
        )
