"""What an archive holds of somebody's files (`accounts.services.archives`)."""

from __future__ import annotations

from typing import Final

from accounts.models import Account
from accounts.services import archives
from accounts.services.archive_files import ArchiveWriter
from statuses.models import MediaAttachment

_STEP: Final = 10


def _write_media(account: Account, cursor: int, writer: ArchiveWriter) -> int | None:
    """The files that were uploaded, under the names they have in the documents; previews can be made again from them."""
    rows = MediaAttachment.objects.filter(account=account, id__gt=cursor).exclude(file="").order_by("id")[:_STEP]
    last = None
    for media in rows:
        writer.add_stored(media.file, media.file)
        last = media.id
    return last


def register_parts() -> None:
    """Add the parts of this app."""
    archives.register(archives.ArchivePart("media", _write_media))
