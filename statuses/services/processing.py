"""Makes what was uploaded ready to be shown: the background work behind `services.media.upload_media`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from django.db import transaction
from django.db.models import F

from social.kernel.errors import Invalid
from social.kernel.media import recordings, storage
from social.kernel.media.recordings import Converted
from statuses.events import MediaUploaded
from statuses.models import MediaAttachment, Processing
from statuses.services.media import FOLDER

logger = logging.getLogger("social.media")

ATTEMPTS: Final = 5
"""How often the process may end while it works on a file, before that file is held to be the reason."""
PROCESSING_SECONDS: Final = recordings.CONVERSION_SECONDS + 300.0
"""The longest that `process_media` may take for one file."""

_UNFINISHED_STATES: Final = (Processing.QUEUED, Processing.RUNNING)
# Keys of `meta` that are not about the file that was converted.
_RETAINED_KEYS: Final = ("small", "colors", "focus")


def process_media(events: Sequence[MediaUploaded]) -> None:
    """Convert uploaded videos and sounds; those that cannot be converted have failed, and only those.

    A file that is processed already, or removed meanwhile, is left alone. Raises OSError when nothing can be stored.
    """
    for event in events:
        media = _begin(event.media_id)
        if media is not None:
            _process(media)


def _begin(media_id: int) -> MediaAttachment | None:
    """The file, noted as being processed once more; None when there is nothing to do."""
    waiting = MediaAttachment.objects.filter(id=media_id, processing__in=_UNFINISHED_STATES)
    if waiting.filter(attempts__gte=ATTEMPTS).exists():
        logger.error("media %d: its processing has ended %d processes", media_id, ATTEMPTS)
        _fail(media_id)
        return None
    waiting.update(processing=Processing.RUNNING, attempts=F("attempts") + 1)
    return waiting.first()


def _process(media: MediaAttachment) -> None:
    try:
        with storage.opened(media.source) as source, recordings.convert(source, media.content_type) as converted:
            _complete(media, converted)
    except (Invalid, FileNotFoundError) as error:
        logger.info("media %d could not be processed: %s", media.id, error)
        _fail(media.id)
    except Exception:
        # Not the file's fault: it is tried again.
        MediaAttachment.objects.filter(id=media.id).update(attempts=F("attempts") - 1)
        raise


def _complete(media: MediaAttachment, converted: Converted) -> None:
    path = storage.store(converted.file, folder=f"{FOLDER}/original", extension=converted.extension)
    left = [path]
    try:
        with transaction.atomic():
            current = (
                MediaAttachment.objects.select_for_update()
                .filter(id=media.id, processing__in=_UNFINISHED_STATES)
                .first()
            )
            if current is not None:
                left = [current.source]
                current.processing = Processing.COMPLETE
                current.content_type = converted.content_type
                current.file, current.file_size = path, converted.byte_count
                current.source = ""
                current.meta = {
                    **converted.meta,
                    **{key: current.meta[key] for key in _RETAINED_KEYS if key in current.meta},
                }
                current.save(update_fields=["processing", "content_type", "file", "file_size", "source", "meta"])
    finally:
        storage.remove(*left)


def _fail(media_id: int) -> None:
    with transaction.atomic():
        media = (
            MediaAttachment.objects.select_for_update().filter(id=media_id, processing__in=_UNFINISHED_STATES).first()
        )
        if media is None:
            return
        paths = media.paths
        media.processing = Processing.FAILED
        media.preview = media.source = ""
        media.save(update_fields=["processing", "preview", "source"])
    storage.remove(*paths)
