"""Counts the pending decisions of staff, and reads held posts."""

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.db.models import Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.copies.models import QuarantineDecision, QuarantinedFile
from accounts.identity.queries.sign_up import list_unapproved
from accounts.models import User
from accounts.models.user import Permission
from accounts.policies.staff import can, staff_of
from moderation.blocklists.queries import list_waiting
from moderation.models import Appeal, Report
from statuses.models import HeldPost, MediaAttachment
from statuses.ports import remote_documents


def list_held() -> QuerySet[HeldPost]:
    """Return the posts and edits waiting for a decision, with their authors, unordered; edits of deleted posts are left out."""
    rows = HeldPost.objects.select_related("account", "scheduled")
    return rows.filter(approved_at=None, status__deleted_at=None)


def list_files(held: HeldPost) -> Sequence[MediaAttachment]:
    """Return the files of a held post, or the files that a held edit adds. Files of remote posts are read from the document."""
    if held.document is None:
        rows = MediaAttachment.objects.filter(Q(held__held=held) | Q(scheduled__scheduled__held=held))
        return list(rows.order_by("scheduled__position", "id"))
    reader = remote_documents.find()
    files = [] if reader is None else reader.read_files(held.account, held.document)
    present = set(MediaAttachment.objects.filter(status__held_edit=held).values_list("remote_url", flat=True))
    return [media for media in files if media.remote_url not in present]


#: Pending decisions by kind: title, the permission to take these decisions, and their rows.
_KINDS: Final[tuple[tuple[str | Promise, Permission, Callable[[], QuerySet[Any]]], ...]] = (
    (_("Reports"), Permission.MANAGE_REPORTS, lambda: Report.objects.filter(action_taken_at=None)),
    (_("Appeals"), Permission.MANAGE_APPEALS, lambda: Appeal.objects.filter(approved_at=None, rejected_at=None)),
    (_("Sign-ups"), Permission.MANAGE_USERS, list_unapproved),
    (_("Held posts"), Permission.MANAGE_REPORTS, list_held),
    (
        _("Files in quarantine"),
        Permission.MANAGE_REPORTS,
        lambda: QuarantinedFile.objects.filter(decision=QuarantineDecision.WAITING),
    ),
    (_("Changes by blocklists"), Permission.MANAGE_FEDERATION, list_waiting),
)
DECISION_PERMISSIONS: Final = functools.reduce(operator.or_, (permission for _title, permission, _rows in _KINDS))
"""The permissions, each of which allows some of these decisions."""


def count_waiting_for(user: User) -> list[tuple[str | Promise, int]]:
    """Count the pending decisions that the user may take; return the title and the number for each kind that has any."""
    by = staff_of(user)
    counts = [(title, rows().count()) for title, permission, rows in _KINDS if can(by, permission)]
    return [(title, count) for title, count in counts if count]
