"""Lets go of the copies of files of other servers whose posts are deleted."""

from __future__ import annotations

from collections.abc import Iterable

from accounts.models.remote_copy import CopyPurpose
from accounts.services.remote_copies import forget_copies
from statuses.models import MediaAttachment


def forget_copies_of(files: Iterable[MediaAttachment]) -> None:
    """Remove the copies of these files, in the caller's transaction; of files of this server there are none."""
    urls = [url for media in files for url in (media.remote_url, media.preview_remote_url) if url]
    if urls:
        forget_copies(purposes=(CopyPurpose.ATTACHMENT, CopyPurpose.COVER), urls=urls)
