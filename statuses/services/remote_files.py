"""Has files of other servers measured, and corrects what is said of them by what their copies have shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from django.conf import settings
from django.db import transaction

from accounts.events import RemoteCopyStored
from accounts.models import RemoteCopy
from accounts.models.remote import CopyFailure, CopyPurpose, CopyState
from accounts.queries.remote_copies import count_bytes
from accounts.services.remote_copies import request_copy
from statuses.events import FilesUnmeasured
from statuses.models import MediaAttachment, MediaType
from statuses.services.changing import BATCH_SIZE, change_statuses

#: Clients must know the type and size of these before somebody looks; a video is measured when it is asked for.
_MEASURED_TYPES: Final = (MediaType.IMAGE, MediaType.UNKNOWN)


def is_unmeasured(media: MediaAttachment) -> bool:
    """Tell whether a file of another server is measured when it arrives, because its server does not say its size or type."""
    return media.type in _MEASURED_TYPES and not media.meta.get("original", {}).get("width")


def measure_files(events: Sequence[FilesUnmeasured]) -> None:
    """Have files copied, and so measured, whose servers do not say their sizes or types (contract, federation section 17).

    Only while there is room for copies: those that somebody has looked at shall not make way for them (docs/adr/0021).
    """
    shown = MediaAttachment.objects.filter(status_id__one_of=[event.status_id for event in events], file="")
    unmeasured = [media for media in shown.exclude(remote_url=None).order_by("id") if is_unmeasured(media)]
    if not unmeasured or count_bytes() >= settings.REMOTE_MEDIA_BUDGET:
        return
    for url in dict.fromkeys(cast(str, media.remote_url) for media in unmeasured):
        copy = request_copy(purpose=CopyPurpose.ATTACHMENT, url=url)
        if copy.state == CopyState.READY:
            complete_files([RemoteCopyStored(copy_id=copy.id)])


def complete_files(events: Sequence[RemoteCopyStored]) -> None:
    """Give files of other servers the type, size and duration that their copies have, whatever their servers have said, and a
    blur where they said none; a video without sound is a gifv from now on, and what cannot be shown is unknown
    (contract, behaviours section 10, federation section 17).

    May be repeated. Each batch is committed by itself: very many posts may show one file.
    """
    for copy in RemoteCopy.objects.filter(id__one_of=[event.copy_id for event in events]):
        measured = copy.measured
        if copy.state == CopyState.FAILED and copy.failure == CopyFailure.REFUSED:
            measured = {"type": MediaType.UNKNOWN, "meta": {}, "blurhash": None}
        elif not measured:
            continue
        shown = MediaAttachment.objects.filter(remote_url=copy.url, file="").order_by("-id")
        found = list(shown[:BATCH_SIZE])
        while found:
            changed = [media for media in found if _completed(media, measured)]
            with transaction.atomic():
                # First the posts: whoever edits one holds it while its files are written.
                change_statuses({media.status_id for media in changed if media.status_id is not None})
                for media in MediaAttachment.objects.filter(id__one_of=[media.id for media in changed]):
                    MediaAttachment.objects.filter(id=media.id).update(**_completed(media, measured))
            found = list(shown.filter(id__lt=found[-1].id)[:BATCH_SIZE])


def _completed(media: MediaAttachment, measured: dict[str, Any]) -> dict[str, Any]:
    """The columns of a file that change."""
    meta = {**media.meta, **measured["meta"]}
    if "original" in meta:
        meta["original"] = {**media.meta.get("original", {}), **measured["meta"].get("original", {})}
    values = {
        "type": measured["type"],
        "meta": meta,
        "blurhash": media.blurhash or measured["blurhash"],
    }
    return {name: value for name, value in values.items() if getattr(media, name) != value}
