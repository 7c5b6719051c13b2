"""Reads files, always as the account they belong to."""

from __future__ import annotations

from typing import Any

from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import MediaAttachment


def find_media(media_id: Any, account_id: int, *, unattached: bool = True, lock: bool = False) -> MediaAttachment:
    """The account's own file. Raises NotFound for any other, and with `unattached` for one that hangs on a post (D-07).

    `lock` holds its row until the caller's transaction ends.
    """
    found = MediaAttachment.objects.filter(account_id=account_id)
    if unattached:
        found = found.filter(status=None)
    if lock:
        found = found.select_for_update()
    number = parse_id(media_id)
    media = found.filter(id=number).first() if number is not None else None
    if media is None:
        raise NotFound
    return media
