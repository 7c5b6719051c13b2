"""Reads media files, for their owner or for a viewer of their post."""

from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from accounts.policies.audience import is_present
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from statuses.models import MediaAttachment
from statuses.policies.audience import visible_to


def find_media(media_id: Any, account_id: int, *, unattached: bool = True, lock: bool = False) -> MediaAttachment:
    """Return the account's own file; with `lock`, its row is locked. Raises NotFound for any other file and, with `unattached`,
    for an attached file.
    """
    found = MediaAttachment.objects.filter(account_id=account_id)
    if unattached:
        found = found.filter(status=None, former_status=None)
    if lock:
        found = found.select_for_update()
    return require_found(found.filter(id=parse_id(media_id) or 0).first())


def attachable(account_id: int, *, of_status_id: int | None = None) -> QuerySet[MediaAttachment]:
    """Select the account's files that can be attached to a post: files of no other post, scheduled post or held edit. With
    `of_status_id`, the post being edited, the result includes files that the post shows or has shown, and files of a held edit
    of the post.
    """
    free = Q(status=None, former_status=None, scheduled=None, held=None)
    if of_status_id is not None:
        free |= Q(status_id=of_status_id) | Q(former_status_id=of_status_id)
        free |= Q(held__held__status_id=of_status_id, held__preview_of=None)
    return MediaAttachment.objects.filter(free, account_id=account_id)


def find_shown_media(media_id: int, viewer_id: int | None) -> tuple[MediaAttachment, bool]:
    """Return a file of a post, and whether the viewer may read that post. Two queries. Raises NotFound."""
    rows = MediaAttachment.objects.filter(is_present("status__account"), id=media_id, status__deleted_at=None)
    media = require_found(rows.exclude(status=None).select_related("status").first())
    readable = Q(id=media_id) & visible_to(viewer_id, prefix="status__")
    return media, MediaAttachment.objects.filter(readable).exists()


def sum_up_attachments() -> list[tuple[str, int, int]]:
    """Return, for each type, the number of this server's files and their bytes, previews included. Reads the whole table."""
    own = MediaAttachment.objects.exclude(file="").values_list("type").order_by("type")
    return list(own.annotate(count=Count("id"), bytes=Sum("file_size") + Sum("preview_size")))
