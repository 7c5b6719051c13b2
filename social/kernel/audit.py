"""The port through which an act of staff on rows of the kernel reaches the audit log, which is kept by an app above."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, Protocol

from social.kernel.ports import Port


class AuditLog(Protocol):
    """Adds rows that say what was done by whom."""

    def __call__(
        self, *, by: Any, action: str, target_type: str, targets: Iterable[tuple[int, str]], **details: Any
    ) -> None:
        """Add a row for each target (id and name), in the transaction of what was done.

        `by` is the user who did it, None the operator at the command line; `action` a verb; `target_type` the entity.
        """
        ...


audit_log: Final[Port[AuditLog]] = Port("social.kernel.audit.audit_log")
