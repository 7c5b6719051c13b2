"""Reads the posts that are held for review, for staff."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from statuses.models import HeldPost, MediaAttachment
from statuses.ports import remote_documents


def list_held() -> QuerySet[HeldPost]:
    """Return the posts and edits that wait for a decision, with their authors, unordered; edits of deleted posts are left
    out.
    """
    rows = HeldPost.objects.select_related("account", "scheduled")
    return rows.filter(approved_at=None, status__deleted_at=None)


def list_files(held: HeldPost) -> Sequence[MediaAttachment]:
    """Return the files of a held post, or the files that a held edit adds to its post. Files of a held remote post have no
    rows: they are read from its document.
    """
    if held.document is None:
        rows = MediaAttachment.objects.filter(Q(held__held=held) | Q(scheduled__scheduled__held=held))
        return list(rows.order_by("scheduled__position", "id"))
    reader = remote_documents.find()
    found = [] if reader is None else reader.read_files(held.account, held.document)
    present = set(MediaAttachment.objects.filter(status__held_edit=held).values_list("remote_url", flat=True))
    return [media for media in found if media.remote_url not in present]
