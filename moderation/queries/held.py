"""Reads what is held for review, for staff."""

from __future__ import annotations

from django.db.models import QuerySet

from statuses.models import HeldPost


def list_held() -> QuerySet[HeldPost]:
    """The posts and edits that wait for a decision, with their authors, in no order; no edits of what was deleted."""
    rows = HeldPost.objects.select_related("account", "scheduled")
    return rows.filter(approved_at=None, status__deleted_at=None)
