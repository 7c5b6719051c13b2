"""Reads the versions of a post, the current one included."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q

from social.kernel.errors import NotFound
from social.kernel.text.plain import plain
from statuses.models import MediaAttachment, StatusEdit
from statuses.queries.rows import Row
from statuses.queries.sources import load_sources


@dataclass(frozen=True)
class Version:
    """What a post was from `created_at` on; its files with the descriptions of that time. `poll_options` is None without
    a poll.
    """

    text: str
    content: str
    spoiler_text: str
    sensitive: bool
    media: list[MediaAttachment]
    poll_options: list[str] | None
    is_quote: bool
    created_at: datetime

    def texts(self, *, local: bool) -> tuple[str, str]:
        """The texts that may hold emojis, as of `statuses.queries.sources.Source`."""
        return self.text if local else self.content, self.spoiler_text


class EarlierVersion(NamedTuple):
    """What an edited post said before, as text, and since when it had."""

    words: str
    created_at: datetime


def load_earlier_versions(status_ids: Collection[int]) -> dict[int, list[EarlierVersion]]:
    """What edited posts said before, by post, the oldest version first; one query. For staff, who may read the posts."""
    found: dict[int, list[EarlierVersion]] = {}
    edits = StatusEdit.objects.filter(status_id__one_of=list(status_ids)).order_by("created_at", "id")
    for edit in edits if status_ids else ():
        words = [edit.spoiler_text, plain(edit.content), *(edit.poll_options or ()), *edit.media_descriptions]
        version = EarlierVersion(" ".join(part for part in words if part), edit.created_at)
        found.setdefault(edit.status_id, []).append(version)
    return found


def load_history(row: Row) -> list[Version]:
    """The versions of a post, which is no boost, oldest first: three queries, one of a post that was never edited."""
    source = load_sources([row.id]).get(row.id)
    if source is None:
        raise NotFound
    current = Version(
        text=source.text,
        content=source.content,
        spoiler_text=source.spoiler_text,
        sensitive=row.sensitive,
        media=source.media,
        poll_options=source.poll_options or None,
        is_quote=row.quote_state is not None,
        created_at=source.edited_at or row.created_at,
    )
    if source.edited_at is None:
        return [current]
    edits = list(StatusEdit.objects.filter(status_id=row.id).order_by("created_at", "id"))
    files = {
        media.id: media for media in MediaAttachment.objects.filter(Q(status_id=row.id) | Q(former_status_id=row.id))
    }
    return [*(_version(edit, files) for edit in edits), current]


def _version(edit: StatusEdit, files: dict[int, MediaAttachment]) -> Version:
    media = []
    for number, description in zip(edit.media_ids, edit.media_descriptions, strict=True):
        if number in files:
            media.append(copy(files[number]))
            media[-1].description = description
    return Version(
        text=edit.text,
        content=edit.content,
        spoiler_text=edit.spoiler_text,
        sensitive=edit.sensitive,
        media=media,
        poll_options=edit.poll_options,
        is_quote=edit.quote_id is not None,
        created_at=edit.created_at,
    )
