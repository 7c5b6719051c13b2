"""Reads all that the body of a post is made of: text, mentions, hashtags and files, one statement for a whole page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef
from django.db.models.functions import JSONObject

from statuses.models import MediaAttachment, Mention, Status, StatusTag

# What the entities Mention, Tag and MediaAttachment show. Read as JSON beside the post: one statement instead of four.
_MENTION = JSONObject(
    id="account_id",
    username="account__username",
    domain="account__domain",
    url="account__url",
    uri="account__uri",
)
_TAG = JSONObject(name="tag__name", display_name="tag__display_name")
_MEDIA_FIELDS = (
    "id",
    "type",
    "processing",
    "file",
    "preview",
    "remote_url",
    "preview_remote_url",
    "meta",
    "description",
    "blurhash",
)
_MEDIA = JSONObject(**{name: name for name in _MEDIA_FIELDS})


@dataclass(slots=True)
class Source:
    """A post with what hangs on it, as read: `mentions` and `tags` as JSON objects of the columns above."""

    status: Status
    mentions: list[dict[str, Any]]
    tags: list[dict[str, Any]]
    media: list[MediaAttachment]

    @property
    def texts(self) -> tuple[str, str]:
        """The texts that may hold emojis."""
        return self.status.text if self.status.local else self.status.content, self.status.spoiler_text


def load_sources(status_ids: Iterable[int]) -> dict[int, Source]:
    """The posts with these ids and what hangs on them, in one query; unknown ids are left out."""
    ids = set(status_ids)
    if not ids:
        return {}
    of_post = {"status": OuterRef("id")}
    found = (
        Status.objects.filter(id__in=ids)
        .select_related("account")
        .only(
            *("uri", "url", "text", "content", "spoiler_text", "visibility", "language", "local", "reblog_of"),
            *("version", "created_at", "edited_at", "account__username", "account__domain"),
        )
        .annotate(
            mention_rows=ArraySubquery(
                Mention.objects.filter(silent=False, **of_post).order_by("id").values(row=_MENTION)
            ),
            tag_rows=ArraySubquery(StatusTag.objects.filter(**of_post).order_by("id").values(row=_TAG)),
            media_rows=ArraySubquery(
                MediaAttachment.objects.filter(**of_post).order_by("position", "id").values(row=_MEDIA)
            ),
        )
    )
    return {status.id: _source(status) for status in found}


def _source(status: Any) -> Source:
    return Source(
        status=status,
        mentions=status.mention_rows,
        tags=status.tag_rows,
        media=[MediaAttachment(status_id=status.id, **row) for row in status.media_rows],
    )
