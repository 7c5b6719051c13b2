"""Requests copies of remote files to measure them, and corrects the files' metadata from the copies."""

from collections.abc import Sequence
from typing import Any, Final

from django.db import transaction

from accounts.copies.models import CopyFailure, CopyPurpose, CopyState, RemoteCopy
from accounts.copies.queries import count_bytes, find_copies
from accounts.copies.services.copying import request_copy
from accounts.events import RemoteCopyStored
from accounts.queries.site_settings import find_media_budget
from statuses.events import FilesUnmeasured
from statuses.models import MediaAttachment, MediaType
from statuses.services.changing import BATCH_SIZE, change_statuses

#: Kinds of files that are measured when a post arrives, because clients need type and size immediately; a video is measured
#: when a viewer requests it.
_MEASURED_TYPES: Final = (MediaType.IMAGE, MediaType.UNKNOWN)


def measure_files(events: Sequence[FilesUnmeasured]) -> None:
    """Correct the metadata of remote files that were copied. For other files without a size or type, request copies (contract,
    federation section 17) as long as the storage budget has room (docs/adr/0021).
    """
    attachments = MediaAttachment.objects.filter(status_id__one_of=[event.status_id for event in events], file="")
    files = list(attachments.exclude(remote_url=None).order_by("id"))
    copies = find_copies(CopyPurpose.ATTACHMENT, (str(media.remote_url) for media in files))
    unmeasured = []
    for media in files:
        copy = copies.get(str(media.remote_url))
        measured = _measured_facts(copy) if copy is not None else {}
        if measured:
            _complete([media], measured)
        elif media.type in _MEASURED_TYPES and not media.meta.get("original", {}).get("width"):
            unmeasured.append(str(media.remote_url))
    if unmeasured and count_bytes() < find_media_budget():
        for url in dict.fromkeys(unmeasured):
            request_copy(purpose=CopyPurpose.ATTACHMENT, url=url)


def complete_files(events: Sequence[RemoteCopyStored]) -> None:
    """Set the type, size and duration of remote files, and a missing blurhash, from their copies. A video without sound becomes
    a gifv, and a file that cannot be shown becomes unknown (behaviours section 10). Idempotent. One transaction for each batch.
    """
    for copy in RemoteCopy.objects.filter(id__one_of=[event.copy_id for event in events]):
        measured = _measured_facts(copy)
        if not measured:
            continue
        attachments = MediaAttachment.objects.filter(remote_url=copy.url, file="").order_by("-id")
        found = list(attachments[:BATCH_SIZE])
        while found:
            _complete(found, measured)
            found = list(attachments.filter(id__lt=found[-1].id)[:BATCH_SIZE])


def _measured_facts(copy: RemoteCopy) -> dict[str, Any]:
    # Empty if the file was not copied.
    if copy.state == CopyState.FAILED and copy.failure == CopyFailure.REFUSED:
        return {"type": MediaType.UNKNOWN, "meta": {}, "blurhash": None}
    measured: dict[str, Any] = copy.measured
    return measured


def _complete(files: Sequence[MediaAttachment], measured: dict[str, Any]) -> None:
    changed = [media for media in files if _changed_columns(media, measured)]
    with transaction.atomic():
        # Posts are written first, because an edit locks its post before it writes the files.
        change_statuses({media.status_id for media in changed if media.status_id is not None})
        for media in MediaAttachment.objects.filter(id__one_of=[media.id for media in changed]):
            MediaAttachment.objects.filter(id=media.id).update(**_changed_columns(media, measured))


def _changed_columns(media: MediaAttachment, measured: dict[str, Any]) -> dict[str, Any]:
    meta = {**media.meta, **measured["meta"]}
    if "original" in meta:
        meta["original"] = {**media.meta.get("original", {}), **measured["meta"].get("original", {})}
    values = {
        "type": measured["type"],
        "meta": meta,
        "blurhash": media.blurhash or measured["blurhash"],
    }
    return {name: value for name, value in values.items() if getattr(media, name) != value}
