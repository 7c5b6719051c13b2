"""Deletes expired data: addresses, the audit log, settled reports, held posts. `count_due` only counts the rows."""

from collections.abc import Callable
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from accounts.queries.site_settings import retention_days
from accounts.services import retention as accounts
from moderation.models import Report
from social.kernel import clock
from statuses.models import HeldPost
from statuses.services.moderating import drop_held

BATCH_SIZE: Final = 500


def old_reports() -> QuerySet[Report]:
    """Return the reports settled more than KEEP_CLOSED_REPORTS_DAYS ago, except reports about held accounts."""
    before = clock.days_ago(retention_days("KEEP_CLOSED_REPORTS_DAYS"))
    rows = Report.objects.filter(target_account__held_at=None)
    return rows.filter(action_taken_at__lt=before) if before is not None else rows.none()


def forget_reports() -> int:
    """Delete the old reports, but not their strikes; return the number of deleted reports. The clean-up of posts then deletes
    the posts that were kept for these reports.
    """
    forgotten = 0
    while ids := list(old_reports().order_by("action_taken_at").values_list("pk", flat=True)[:BATCH_SIZE]):
        with transaction.atomic():
            Report.objects.filter(id__one_of=ids).delete()
        forgotten += len(ids)
    return forgotten


def old_held_posts() -> QuerySet[HeldPost]:
    """Return the posts that have been held for KEEP_HELD_POSTS_DAYS without a decision, except posts of held accounts."""
    before = clock.days_ago(retention_days("KEEP_HELD_POSTS_DAYS"))
    rows = HeldPost.objects.filter(approved_at=None, account__held_at=None)
    return rows.filter(created_at__lt=before) if before is not None else rows.none()


def forget_held_posts() -> int:
    """Discard the old held posts; return their number."""
    forgotten = 0
    while rows := list(old_held_posts().order_by("id")[:BATCH_SIZE]):
        drop_held(rows)
        forgotten += len(rows)
    return forgotten


#: Kinds of expired data, with the functions that count and delete them.
_KINDS: Final[dict[str, tuple[Callable[[], int], Callable[[], int]]]] = {
    "addresses": (accounts.count_addresses, accounts.forget_addresses),
    "audit_entries": (accounts.count_audit_entries, accounts.forget_audit_entries),
    "reports": (lambda: old_reports().count(), forget_reports),
    "held_posts": (lambda: old_held_posts().count(), forget_held_posts),
}


def clean_up() -> dict[str, int]:
    """Delete all expired data, in batches; return the number of rows of each kind. Run by the scheduler."""
    return {name: forget() for name, (_count, forget) in _KINDS.items()}


def count_due() -> dict[str, int]:
    """Return the number of rows of each kind that `clean_up` would delete now."""
    return {name: count() for name, (count, _forget) in _KINDS.items()}
