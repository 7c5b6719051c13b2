"""Counts pending decisions of staff: reports, appeals, sign-ups, held posts, files in quarantine and changes by blocklists."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.copies.models import QuarantineDecision, QuarantinedFile
from accounts.identity.queries.sign_up import list_unapproved
from accounts.models import User
from accounts.models.user import Permission
from accounts.policies.staff import can, staff_of
from moderation.blocklists.queries import list_waiting
from moderation.models import Appeal, Report
from moderation.queries.held import list_held


@dataclass(frozen=True)
class _Kind:
    title: str | Promise
    permission: Permission
    rows: Callable[[], QuerySet[Any]]


_KINDS: Final = (
    _Kind(_("Reports"), Permission.MANAGE_REPORTS, lambda: Report.objects.filter(action_taken_at=None)),
    _Kind(_("Appeals"), Permission.MANAGE_APPEALS, lambda: Appeal.objects.filter(approved_at=None, rejected_at=None)),
    _Kind(_("Sign-ups"), Permission.MANAGE_USERS, list_unapproved),
    _Kind(_("Held posts"), Permission.MANAGE_REPORTS, list_held),
    _Kind(
        _("Files in quarantine"),
        Permission.MANAGE_REPORTS,
        lambda: QuarantinedFile.objects.filter(decision=QuarantineDecision.WAITING),
    ),
    _Kind(_("Changes by blocklists"), Permission.MANAGE_FEDERATION, list_waiting),
)
DECISION_PERMISSIONS: Final = functools.reduce(operator.or_, (kind.permission for kind in _KINDS))
"""Permissions with which people decide about something that is counted here."""


def count_waiting_for(user: User) -> list[tuple[str | Promise, int]]:
    """Count the pending decisions that the user may take; return the title and the number of each kind that has any."""
    by = staff_of(user)
    counts = [(kind.title, kind.rows().count()) for kind in _KINDS if can(by, kind.permission)]
    return [(title, count) for title, count in counts if count]
