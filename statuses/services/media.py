"""Stores uploaded files, and changes or removes them while they are unattached (contract, behaviours section 10)."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.copies.models import QuarantineSource
from accounts.copies.services.quarantine import Origin, refuse_unless_clean
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.events import publish
from social.kernel.media import images, recordings, scanning, storage, types
from social.kernel.media.recordings import Cover
from social.kernel.text.names import clean_input
from statuses.events import MediaUploaded
from statuses.models import MediaAttachment, MediaType, Processing
from statuses.policies.media import (
    check_description,
    check_file,
    check_thumbnail,
    may_have_thumbnail,
    no_thumbnail_allowed,
    read_focus,
)
from statuses.queries.media import attachable, find_media
from statuses.services.quotas import check_room

FOLDER: Final = "media_attachments"
UNATTACHED_LIFETIME: Final = timedelta(hours=24)
_BATCH_SIZE: Final = 200


@dataclass(frozen=True)
class SentFile:
    """A file as a client sent it, open for reading; `content_type` is the type that the client declared."""

    file: IO[bytes]
    content_type: str = ""

    @property
    def head(self) -> bytes:
        """Read the first bytes of the file, which reveal its media type."""
        self.file.seek(0)
        return self.file.read(types.HEAD)

    @property
    def size(self) -> int:
        return self.file.seek(0, os.SEEK_END)


@dataclass(frozen=True)
class MediaUpload:
    """An uploaded file with its description, focus and thumbnail."""

    sent: SentFile
    description: str | None = None
    focus: str | None = None
    thumbnail: SentFile | None = None


@dataclass(frozen=True)
class MediaChange:
    """Changes to a file; None keeps a value. `drawn` is a row of a held edit, whose preview is the new thumbnail."""

    description: str | None = None
    focus: str | None = None
    thumbnail: SentFile | None = None
    drawn: MediaAttachment | None = None


def upload_media(*, account_id: int, upload: MediaUpload) -> MediaAttachment:
    """Check a file and store it without attaching it to a post. A picture is ready immediately, unless files are scanned; for
    other files MediaUploaded is published.

    Raises Invalid for a file that this server does not accept or that is on a hash list, for a description that is too long,
    and for a thumbnail of a picture, and NoRoom. Decodes the file, and must run outside of any transaction.
    """
    sent_file = upload.sent
    content_type = check_file(sent_file.head, sent_file.size, sent_file.content_type)
    check_room(account_id, 1)
    is_picture = content_type in images.ACCEPTED
    if upload.thumbnail is not None:
        if is_picture:
            raise no_thumbnail_allowed()
        check_thumbnail(upload.thumbnail.head, upload.thumbnail.size, upload.thumbnail.content_type)
    _refuse_listed(account_id, upload)
    media = MediaAttachment(account_id=account_id, description=_checked_description(upload.description))
    focus = read_focus(upload.focus)
    if focus is not None:
        media.meta["focus"] = focus
    with _remove_files_on_error(media):
        if not is_picture:
            _take_recording(media, sent_file, content_type, upload.thumbnail)
        else:
            try:
                take_picture(media, sent_file.file)
            except images.Moving:
                _take_recording(media, sent_file, content_type, None)
        if scanning.is_on() and media.processing == Processing.COMPLETE:
            # The scanner checks the file exactly as it was sent, so the original is stored until it has been scanned.
            media.processing = Processing.QUEUED
            media.source = storage.store(sent_file.file, folder=f"{FOLDER}/source", extension="upload")
        with transaction.atomic():
            check_room(account_id, media.file_size + media.preview_size, locked=True)
            media.save()
            if media.processing != Processing.COMPLETE:
                publish(MediaUploaded(media_id=media.id))
    return media


def _refuse_listed(account_id: int, upload: MediaUpload) -> None:
    # The file is scanned later, because a scan may take a long time.
    sent = [(upload.sent, QuarantineSource.UPLOAD)]
    if upload.thumbnail is not None:
        sent.append((upload.thumbnail, QuarantineSource.THUMBNAIL))
    for one, source in sent:
        origin = Origin(source, account_id=account_id)
        refuse_unless_clean(one.file, content_type=one.content_type, origin=origin, scanned=False)


@contextmanager
def _remove_files_on_error(media: MediaAttachment) -> Iterator[None]:
    try:
        yield
    except BaseException:
        storage.remove(*media.paths)
        raise


def take_picture(media: MediaAttachment, file: IO[bytes]) -> None:
    """Re-encode a picture and store it; the row is not saved. Raises Invalid for a refused file, Moving for an animation."""
    with images.process(file) as picture:
        original, preview = picture.original, picture.preview
        media.type = MediaType.IMAGE
        media.processing = Processing.COMPLETE
        media.content_type = original.content_type
        media.blurhash = picture.blurhash
        media.meta = {"original": original.size, "small": preview.size, **media.meta}
        media.file_size, media.preview_size = original.byte_count, preview.byte_count
        media.file = storage.store(original.file, folder=f"{FOLDER}/original", extension=original.extension)
        media.preview = storage.store(preview.file, folder=f"{FOLDER}/small", extension=preview.extension)


def _take_recording(media: MediaAttachment, sent: SentFile, content_type: str, thumbnail: SentFile | None) -> None:
    # The file is processed later; until then, its size is the size of the upload. A thumbnail replaces the file's own cover.
    media.file_size, file = sent.size, sent.file
    with recordings.examine(file, content_type) as examined:
        media.type = MediaType(examined.kind)
        media.processing = Processing.QUEUED
        media.content_type = content_type
        media.meta = {**examined.meta, **media.meta}
        if thumbnail is not None:
            with recordings.draw_cover(thumbnail.file) as cover:
                set_cover(media, cover)
        elif examined.cover is not None:
            set_cover(media, examined.cover)
    media.source = storage.store(file, folder=f"{FOLDER}/source", extension="upload")


def set_cover(media: MediaAttachment, cover: Cover) -> None:
    """Store a picture as the preview of a file, in place of an earlier preview; the row is not saved."""
    preview = cover.preview
    media.preview = storage.store(preview.file, folder=f"{FOLDER}/small", extension=preview.extension)
    media.preview_size = preview.byte_count
    media.blurhash = cover.blurhash
    media.meta = {**media.meta, "small": preview.size}
    media.meta.pop("colors", None)
    if cover.colours is not None:
        media.meta["colors"] = cover.colours


def _checked_description(description: str | None) -> str | None:
    if description is None:
        return None
    text = clean_input(description).strip()
    check_description(text)
    return text


CHANGED_COLUMNS: Final = ("description", "meta", "preview", "preview_size", "blurhash")
"""Columns that `PreparedChange.apply` may change."""


@dataclass(frozen=True)
class PreparedChange:
    """A checked MediaChange whose thumbnail is encoded and stored (`drawn`)."""

    description: str | None
    focus: dict[str, float | None] | None
    drawn: MediaAttachment

    def apply(self, media: MediaAttachment) -> bool:
        """Change the locked file and return whether anything changed; the caller saves CHANGED_COLUMNS."""
        before = (media.description, media.meta.get("focus"))
        if self.description is not None:
            media.description = self.description
        if self.focus is not None:
            media.meta["focus"] = self.focus
        if self.drawn.preview:
            if media.preview:
                storage.remove_after_commit(media.preview)
            media.preview, media.preview_size = self.drawn.preview, self.drawn.preview_size
            media.blurhash = self.drawn.blurhash
            media.meta.update(self.drawn.meta)
            if self.drawn.pk is not None:
                # The stored thumbnail now belongs to the row of `media`.
                self.drawn.delete()
        return bool(self.drawn.preview) or before != (media.description, media.meta.get("focus"))


@contextmanager
def prepared(found: MediaAttachment, change: MediaChange) -> Iterator[PreparedChange]:
    """Check a change to a file and store its new thumbnail, which is removed again if the block raises. Must run outside of any
    transaction. Raises Invalid for a description that is too long, and for a thumbnail that is refused.
    """
    description, focus = _checked_description(change.description), read_focus(change.focus)
    if change.drawn is not None:
        yield PreparedChange(description, focus, change.drawn)
        return
    drawn = MediaAttachment()
    if change.thumbnail is not None:
        if not may_have_thumbnail(found):
            raise no_thumbnail_allowed()
        check_thumbnail(change.thumbnail.head, change.thumbnail.size, change.thumbnail.content_type)
        origin = Origin(QuarantineSource.THUMBNAIL, account_id=found.account_id, media_id=found.id)
        refuse_unless_clean(change.thumbnail.file, content_type=change.thumbnail.content_type, origin=origin)
        with recordings.draw_cover(change.thumbnail.file) as cover, _remove_files_on_error(drawn):
            set_cover(drawn, cover)
    with _remove_files_on_error(drawn):
        yield PreparedChange(description, focus, drawn)


def update_media(*, account_id: int, media_id: Any, change: MediaChange) -> MediaAttachment:
    """Change description, focus and thumbnail of an unattached file (SEED-064). Raises NotFound for an attached file, which
    only an edit of its post can change; Invalid for a description that is too long, and for a thumbnail of a picture.
    """
    with prepared(find_media(media_id, account_id), change) as checked, transaction.atomic():
        media = find_media(media_id, account_id, lock=True)
        checked.apply(media)
        media.save(update_fields=CHANGED_COLUMNS)
    return media


def delete_media(*, account_id: int, media_id: Any) -> None:
    """Remove an unattached file. Raises NotFound for another account's file, Invalid for a file that is attached to a post."""
    with transaction.atomic():
        media = find_media(media_id, account_id, unattached=False, lock=True)
        if not attachable(account_id).filter(id=media.id).exists():
            raise Invalid(_("Media attachment is currently used by a status"))
        media.delete()
        storage.remove_after_commit(*media.paths)


def remove_unattached() -> int:
    """Remove files unattached for more than a day, a batch at a time, and return how many. Run by the scheduler hourly."""
    removed = 0
    while True:
        with transaction.atomic():
            free = MediaAttachment.objects.filter(status=None, former_status=None, scheduled=None, held=None)
            old = list(
                free.filter(unattached_at__lt=clock.now() - UNATTACHED_LIFETIME)
                .select_for_update(skip_locked=True, of=("self",))
                .order_by("unattached_at")[:_BATCH_SIZE]
            )
            MediaAttachment.objects.filter(id__one_of=[media.id for media in old]).delete()
        # The files are removed after the commit, because a file without a row only wastes space, while a row without its file
        # breaks a post.
        storage.remove(*(path for media in old for path in media.paths))
        removed += len(old)
        if len(old) < _BATCH_SIZE:
            return removed
