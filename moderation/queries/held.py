"""Reads what is held for review, for staff."""

from __future__ import annotations

from django.db.models import QuerySet

from social.kernel.errors import require_found
from statuses.models import HeldPost


def list_held() -> QuerySet[HeldPost]:
    """The posts and edits that wait for a decision, with their authors, in no order; no edits of what was deleted."""
    rows = HeldPost.objects.select_related("account", "scheduled")
    return rows.filter(approved_at=None, status__deleted_at=None)


def find_held(held_id: int) -> HeldPost:
    """The held post with this id. Raises NotFound."""
    return require_found(list_held().filter(id=held_id).first())
