"""Processes uploaded files in the background, after `services.media.upload_media`."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import F

from accounts.copies.models import QuarantinedFile, QuarantineSource
from accounts.copies.services.quarantine import Origin, forget_released, is_clean, opened
from accounts.events import FileReleased
from social.kernel import clock
from social.kernel.errors import Invalid, Unavailable
from social.kernel.events import publish
from social.kernel.media import recordings, scanning, storage
from social.kernel.media.recordings import Converted
from statuses.events import MediaUploaded
from statuses.models import MediaAttachment, MediaType, Processing
from statuses.services.media import FOLDER, take_picture

logger = logging.getLogger("social.media")

ATTEMPTS: Final = 5
"""Maximum number of attempts: after this many processes have died while processing a file, the file is considered the cause,
and is marked as failed.
"""
PROCESSING_SECONDS: Final = recordings.CONVERSION_SECONDS + 300.0
"""Time-out of `process_media` for one file, in seconds."""

_UNFINISHED_STATES: Final = (Processing.QUEUED, Processing.RUNNING)
# Keys of `meta` that do not describe the converted file.
_RETAINED_KEYS: Final = ("small", "colors", "focus")


RESCAN_INTERVAL: Final = timedelta(seconds=30)
"""Delay before a retry when the scanner does not answer."""


def process_media(events: Sequence[MediaUploaded]) -> None:
    """Scan uploads, and convert videos and audio files. A file that cannot be converted, or that the scanner refuses, is marked
    as failed; while the scanner does not answer, files stay queued. Raises OSError when the storage cannot be written.
    """
    for event in events:
        media = _begin(event.media_id)
        if media is not None:
            _process(media)


def _begin(media_id: int) -> MediaAttachment | None:
    # Counts an attempt to process the file.
    unfinished = MediaAttachment.objects.filter(id=media_id, processing__in=_UNFINISHED_STATES)
    if unfinished.filter(attempts__gte=ATTEMPTS).exists():
        logger.error("media %d: its processing has ended %d processes", media_id, ATTEMPTS)
        _fail(media_id)
        return None
    unfinished.update(processing=Processing.RUNNING, attempts=F("attempts") + 1)
    return unfinished.first()


def process_released(events: Sequence[FileReleased]) -> None:
    """Handle FileReleased: process the failed uploads of the released file again. The files can then be attached for a day."""
    for file in QuarantinedFile.objects.filter(id__one_of=[event.file_id for event in events]):
        alike = QuarantinedFile.objects.filter(sha256=file.sha256, source=QuarantineSource.UPLOAD)
        ids = list(alike.exclude(media_id=None).values_list("media_id", flat=True))
        failed = MediaAttachment.objects.filter(id__one_of=ids, processing=Processing.FAILED)
        for media_id in failed.values_list("id", flat=True):
            _restore(media_id, file)
        forget_released(file)


def _restore(media_id: int, file: QuarantinedFile) -> None:
    try:
        with opened(file) as found:
            path = storage.store(found, folder=f"{FOLDER}/source", extension="upload")
    except FileNotFoundError:
        return
    with transaction.atomic():
        failed = MediaAttachment.objects.filter(id=media_id, processing=Processing.FAILED, source="")
        restored = failed.update(processing=Processing.QUEUED, source=path, attempts=0, unattached_at=clock.now())
        if restored:
            publish(MediaUploaded(media_id=media_id))
    if not restored:
        storage.remove(path)


def _process(media: MediaAttachment) -> None:
    try:
        if not _is_clean(media):
            _fail(media.id)
            return
        if media.type == MediaType.IMAGE:
            _show_picture(media)
            return
        with storage.open_stored(media.source) as source, recordings.convert(source, media.content_type) as converted:
            _complete(media, converted)
    except (Invalid, FileNotFoundError) as error:
        logger.info("media %d could not be processed: %s", media.id, error)
        _fail(media.id)
    except Unavailable as error:
        logger.warning("media %d waits for the scanner: %s", media.id, error)
        with transaction.atomic():
            running = MediaAttachment.objects.filter(id=media.id, processing=Processing.RUNNING)
            running.update(processing=Processing.QUEUED, attempts=F("attempts") - 1)
            publish(MediaUploaded(media_id=media.id), due_at=clock.now() + RESCAN_INTERVAL)
    except Exception:
        # The file is not the cause, so the attempt does not count.
        MediaAttachment.objects.filter(id=media.id).update(attempts=F("attempts") - 1)
        raise


def _is_clean(media: MediaAttachment) -> bool:
    if not scanning.is_on():
        return True
    files = [(media.source, media.content_type, QuarantineSource.UPLOAD)]
    if media.type != MediaType.IMAGE:
        files.append((media.preview, "", QuarantineSource.THUMBNAIL))
    for path, content_type, source in files:
        if path:
            origin = Origin(source, account_id=media.account_id, media_id=media.id)
            with storage.open_stored(path) as file:
                if not is_clean(file, content_type=content_type, origin=origin):
                    return False
    return True


def _show_picture(media: MediaAttachment) -> None:
    # The files of a picture that was in quarantine were removed, so the picture is encoded again.
    source, columns = media.source, ["processing", "source"]
    if not media.file:
        with storage.open_stored(source) as file:
            take_picture(media, file)
        columns += ["file", "file_size", "preview", "preview_size", "content_type", "blurhash", "meta"]
    media.processing, media.source = Processing.COMPLETE, ""
    with transaction.atomic():
        unused_paths = [source]
        if _lock_unfinished(media.id) is not None:
            media.save(update_fields=columns)
        else:
            unused_paths = list(media.paths)
    storage.remove(*unused_paths)


def _lock_unfinished(media_id: int) -> MediaAttachment | None:
    rows = MediaAttachment.objects.select_for_update().filter(id=media_id, processing__in=_UNFINISHED_STATES)
    return rows.first()


def _complete(media: MediaAttachment, converted: Converted) -> None:
    path = storage.store(converted.file, folder=f"{FOLDER}/original", extension=converted.extension)
    unused_paths = [path]
    try:
        with transaction.atomic():
            current = _lock_unfinished(media.id)
            if current is not None:
                unused_paths = [current.source]
                current.processing = Processing.COMPLETE
                current.content_type = converted.content_type
                current.file, current.file_size = path, converted.byte_count
                current.source = ""
                retained = {key: current.meta[key] for key in _RETAINED_KEYS if key in current.meta}
                current.meta = {**converted.meta, **retained}
                current.save(update_fields=["processing", "content_type", "file", "file_size", "source", "meta"])
    finally:
        storage.remove(*unused_paths)


def _fail(media_id: int) -> None:
    with transaction.atomic():
        media = _lock_unfinished(media_id)
        if media is None:
            return
        paths = media.paths
        media.processing = Processing.FAILED
        media.file = media.preview = media.source = ""
        media.save(update_fields=["processing", "file", "preview", "source"])
    storage.remove(*paths)
