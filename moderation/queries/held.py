"""Reads what is held for review, for staff."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from statuses.models import HeldPost, MediaAttachment


def list_held() -> QuerySet[HeldPost]:
    """The posts and edits that wait for a decision, with their authors, in no order; no edits of what was deleted."""
    rows = HeldPost.objects.select_related("account", "scheduled")
    return rows.filter(approved_at=None, status__deleted_at=None)


def list_files(held: HeldPost) -> QuerySet[MediaAttachment]:
    """The files of a held post that was written here, or those of a held edit that its post has not."""
    rows = MediaAttachment.objects.filter(Q(held__held=held) | Q(scheduled__scheduled__held=held))
    return rows.order_by("scheduled__position", "id")
