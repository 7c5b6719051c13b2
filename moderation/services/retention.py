"""Forgets what the settings say is kept for a time only: addresses, the audit log, settled reports, held posts.

`clean_up` does all of it and `count_due` says what it would do: for the scheduler and for commands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from accounts.queries.site_settings import kept_days
from accounts.services import retention as accounts
from moderation.models import Report
from social.kernel import clock
from statuses.models import HeldPost
from statuses.services.reviewing import drop_held

BATCH_SIZE: Final = 500


@dataclass(frozen=True)
class Step:
    """A kind of what is forgotten: how much there is to forget now, and the doing of it."""

    count: Callable[[], int]
    forget: Callable[[], int]


def old_reports() -> QuerySet[Report]:
    """The reports that were settled more than KEEP_CLOSED_REPORTS_DAYS ago, but those about accounts that are held."""
    before = clock.days_ago(kept_days("KEEP_CLOSED_REPORTS_DAYS"))
    rows = Report.objects.filter(target_account__held_at=None)
    return rows.filter(action_taken_at__lt=before) if before is not None else rows.none()


def forget_reports() -> int:
    """Delete those; how many. Strikes stay, with their statement of reasons. Posts that only they kept go with the rest."""
    forgotten = 0
    while ids := list(old_reports().order_by("action_taken_at").values_list("pk", flat=True)[:BATCH_SIZE]):
        with transaction.atomic():
            Report.objects.filter(id__one_of=ids).delete()
        forgotten += len(ids)
    return forgotten


def old_held_posts() -> QuerySet[HeldPost]:
    """The posts about which nobody has decided for KEEP_HELD_POSTS_DAYS."""
    before = clock.days_ago(kept_days("KEEP_HELD_POSTS_DAYS"))
    rows = HeldPost.objects.filter(approved_at=None, account__held_at=None)
    return rows.filter(created_at__lt=before) if before is not None else rows.none()


def forget_held_posts() -> int:
    """Discard those; how many."""
    forgotten = 0
    while rows := list(old_held_posts().order_by("id")[:BATCH_SIZE]):
        drop_held(rows)
        forgotten += len(rows)
    return forgotten


STEPS: Final[dict[str, Step]] = {
    "addresses": Step(accounts.count_addresses, accounts.forget_addresses),
    "audit_entries": Step(accounts.count_audit_entries, accounts.forget_audit_entries),
    "reports": Step(lambda: old_reports().count(), forget_reports),
    "held_posts": Step(lambda: old_held_posts().count(), forget_held_posts),
}


def clean_up() -> dict[str, int]:
    """Forget everything that is due, in batches; how much of each kind. Run by the scheduler."""
    return {name: step.forget() for name, step in STEPS.items()}


def count_due() -> dict[str, int]:
    """Count what `clean_up` would forget now, by kind."""
    return {name: step.count() for name, step in STEPS.items()}
