"""Takes in files, and changes or removes them while they wait to be attached (contract, behaviours section 10)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.media import images, storage
from social.kernel.text.names import clean_input
from statuses.models import MediaAttachment, MediaType, Processing
from statuses.policies.media import check_description, check_file, no_thumbnail_allowed, read_focus
from statuses.queries.media import find_media

FOLDER: Final = "media_attachments"
KEPT_UNATTACHED: Final = timedelta(hours=24)
_BATCH: Final = 200


@dataclass(frozen=True)
class MediaUpload:
    """A file as somebody sent it; `content_type` is their word only."""

    data: bytes
    content_type: str = ""
    description: str | None = None
    focus: str | None = None
    has_thumbnail: bool = False


@dataclass(frozen=True)
class MediaChange:
    """What to change of a file; None leaves it as it is."""

    description: str | None = None
    focus: str | None = None
    has_thumbnail: bool = False


def upload_media(*, account_id: int, upload: MediaUpload) -> MediaAttachment:
    """Check, draw anew and keep a picture, unattached.

    Raises Invalid for what is no picture this server takes, or for a description that is too long. Takes as long as the
    picture needs (half a tenth of a second for two megapixels), outside of any transaction.
    """
    check_file(upload.data, upload.content_type)
    if upload.has_thumbnail:
        raise no_thumbnail_allowed()
    description = _described(upload.description)
    picture = images.process(upload.data)
    meta: dict[str, Any] = {"original": picture.original.size, "small": picture.preview.size}
    focus = read_focus(upload.focus)
    if focus is not None:
        meta["focus"] = focus
    paths: list[str] = []
    try:
        for rendition, name in ((picture.original, "original"), (picture.preview, "small")):
            paths.append(storage.store(rendition.data, folder=f"{FOLDER}/{name}", extension=rendition.extension))
        return MediaAttachment.objects.create(
            account_id=account_id,
            type=MediaType.IMAGE,
            processing=Processing.COMPLETE,
            content_type=picture.original.content_type,
            file=paths[0],
            file_size=len(picture.original.data),
            preview=paths[1],
            meta=meta,
            description=description,
            blurhash=picture.blurhash,
        )
    except Exception:
        storage.remove(*paths)
        raise


def _described(description: str | None) -> str | None:
    if description is None:
        return None
    text = clean_input(description).strip()
    check_description(text)
    return text


def update_media(*, account_id: int, media_id: Any, change: MediaChange) -> MediaAttachment:
    """Change description and focus of an unattached file (SEED-064).

    Raises NotFound once it is attached; afterwards only an edit of the post changes them.
    """
    with transaction.atomic():
        media = find_media(media_id, account_id, lock=True)
        if change.has_thumbnail:
            raise no_thumbnail_allowed()
        if change.description is not None:
            media.description = _described(change.description)
        focus = read_focus(change.focus)
        if focus is not None:
            media.meta = {**media.meta, "focus": focus}
        media.save(update_fields=["description", "meta"])
    return media


def delete_media(*, account_id: int, media_id: Any) -> None:
    """Remove an unattached file at once. Raises NotFound for anybody else's, Invalid for one that hangs on a post."""
    with transaction.atomic():
        media = find_media(media_id, account_id, unattached=False, lock=True)
        if media.status_id is not None:
            raise Invalid(_("Media attachment is currently used by a status"))
        paths = [media.file, media.preview]
        media.delete()
        transaction.on_commit(lambda: storage.remove(*paths))


def remove_unattached() -> int:
    """Remove files that have waited longer than a day to be attached; how many. Run by the scheduler, about hourly.

    A bounded number per transaction, and none that somebody is just attaching.
    """
    removed = 0
    while True:
        with transaction.atomic():
            old = list(
                MediaAttachment.objects.select_for_update(skip_locked=True)
                .filter(status=None, unattached_at__lt=clock.now() - KEPT_UNATTACHED)
                .order_by("unattached_at")[:_BATCH]
            )
            MediaAttachment.objects.filter(id__one_of=[media.id for media in old]).delete()
        # After the commit: a file without a row is waste, a row without its file is a broken post.
        storage.remove(*(path for media in old for path in (media.file, media.preview)))
        removed += len(old)
        if len(old) < _BATCH:
            return removed
