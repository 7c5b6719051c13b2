"""Writes the audit log, to which every service that acts for staff adds rows, and the settings that operators change."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.db.models import Model

from accounts.models import Account, AuditEntry, SiteSetting, User
from accounts.policies.staff import OPERATOR, Staff, staff_of
from social.kernel import clock

_BATCH: Final = 500


def record(*, by: Staff, action: str, target_type: str, target_id: int, target_name: str, **details: Any) -> None:
    """Add a row, in the transaction of the change. `action` is a verb, `target_type` the entity (`User`, `Status`)."""
    record_each(by=by, action=action, target_type=target_type, targets=[(target_id, target_name)], **details)


def record_about(by: Staff, action: str, row: Model, **details: Any) -> None:
    """Add a row about `row`, as `record` does; `row` is named by its address (accounts and users) or by its text."""
    account = row.account if isinstance(row, User) else row
    name = f"@{account.acct}" if isinstance(account, Account) else str(row)
    record(by=by, action=action, target_type=type(row).__name__, target_id=row.pk, target_name=name, **details)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the details of an audit row: the values that differ, before and after the change."""
    names = [name for name in after if after[name] != before[name]]
    return {"before": {name: before[name] for name in names}, "after": {name: after[name] for name in names}}


def record_each(
    *, by: Staff, action: str, target_type: str, targets: Iterable[tuple[int, str]], **details: Any
) -> None:
    """Add a row for each target (id and name), as `record` does for one."""
    changes = ((target_id, target_name, details) for target_id, target_name in targets)
    record_changes(by=by, action=action, target_type=target_type, changes=changes)


def record_changes(
    *, by: Staff, action: str, target_type: str, changes: Iterable[tuple[int, str, dict[str, Any]]]
) -> None:
    """Add a row for each target (id, name and details of its own), as `record` does for one."""
    entries = (
        AuditEntry(
            account_id=by.account_id,
            account_name=by.name,
            action=action,
            target_type=target_type,
            target_id=target_id,
            target_name=target_name,
            details=details,
        )
        for target_id, target_name, details in changes
    )
    AuditEntry.objects.bulk_create(entries, batch_size=_BATCH)


def reason_details(reason: str) -> dict[str, str]:
    """Return the details of an audit row with the reason for an action; empty without a reason."""
    return {"reason": reason} if reason else {}


def record_by_user(*, by: User | None, **what: Any) -> None:
    """Add rows as `record_each` does, for changes to the kernel's tables (`social.kernel.ports`). `by=None` is the operator."""
    record_each(by=OPERATOR if by is None else staff_of(by), **what)


def write_setting(key: str, value: Any) -> None:
    """Store a setting; a value from the environment still takes precedence."""
    SiteSetting.objects.update_or_create(key=key, defaults={"value": value, "updated_at": clock.now()})
