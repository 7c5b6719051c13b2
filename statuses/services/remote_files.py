"""Completes what is said of files of other servers by what their copies have shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db import transaction

from accounts.events import RemoteCopyStored
from accounts.models import RemoteCopy
from statuses.models import MediaAttachment, MediaType
from statuses.services.changing import BATCH_SIZE, change_statuses

_UNCERTAIN_TYPES: Final = (MediaType.UNKNOWN, MediaType.VIDEO)


def complete_files(events: Sequence[RemoteCopyStored]) -> None:
    """Add size, duration and blur to files of other servers that were copied, where their servers have not said them; a video
    without sound is a gifv from now on (contract, behaviours section 10).

    May be repeated. Each batch is committed by itself: very many posts may show one file.
    """
    for copy in RemoteCopy.objects.filter(id__one_of=[event.copy_id for event in events]).exclude(measured={}):
        shown = MediaAttachment.objects.filter(remote_url=copy.url, file="").order_by("-id")
        found = list(shown[:BATCH_SIZE])
        while found:
            changed = [media for media in found if _completed(media, copy.measured)]
            with transaction.atomic():
                # First the posts: whoever edits one holds it while its files are written.
                change_statuses({media.status_id for media in changed if media.status_id is not None})
                for media in MediaAttachment.objects.filter(id__one_of=[media.id for media in changed]):
                    MediaAttachment.objects.filter(id=media.id).update(**_completed(media, copy.measured))
            found = list(shown.filter(id__lt=found[-1].id)[:BATCH_SIZE])


def _completed(media: MediaAttachment, measured: dict[str, Any]) -> dict[str, Any]:
    """The columns of a file that change."""
    meta = {**measured["meta"], **media.meta}
    meta["original"] = {**measured["meta"]["original"], **media.meta.get("original", {})}
    values = {
        "type": measured["type"] if media.type in _UNCERTAIN_TYPES else media.type,
        "meta": meta,
        "blurhash": media.blurhash or measured["blurhash"],
    }
    return {name: value for name, value in values.items() if getattr(media, name) != value}
