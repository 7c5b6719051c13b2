"""Reads of posts what decides who sees them and what changes too often to be kept: one statement for a whole page.

The statement is a function of the database (migrations 0003 to 0006), which keeps its plan; moments come as milliseconds,
because reading the dates of forty rows costs more than the rows. The rest of a post, its body, is in
`statuses.queries.sources`, and read only when no encoded copy is at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.db import connection

# The columns of the function are the fields of Row, in their order.
_SQL: Final = "SELECT * FROM statuses_rows_2(%(ids)s::bigint[], %(viewer)s::bigint)"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Row:
    """A post without its body, with what is shown of its author's counters. `original` is the boosted post's row."""

    id: int
    account_id: int
    visibility: str
    is_deleted: bool
    created_ms: int
    uri: str | None
    version: int
    local: bool
    sensitive: bool
    language: str | None
    in_reply_to_id: int | None
    in_reply_to_account_id: int | None
    is_orphan: bool
    reblog_of_id: int | None
    username: str
    domain: str | None
    account_version: int
    is_author_suspended: bool
    is_author_limited: bool
    is_author_sensitized: bool
    followers_count: int
    following_count: int
    statuses_count: int
    last_status_ms: int | None
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    application_name: str | None
    application_website: str | None
    shows_application: bool
    addressed_ids: list[int]
    is_favourited: bool
    is_reblogged: bool
    original: Row | None = None

    @property
    def created_at(self) -> datetime:
        """When it was written."""
        return _EPOCH + timedelta(milliseconds=self.created_ms)

    @property
    def last_status_at(self) -> datetime | None:
        """When the author last wrote something."""
        return None if self.last_status_ms is None else _EPOCH + timedelta(milliseconds=self.last_status_ms)

    @property
    def proper(self) -> Row:
        """The post that is read: of a boost the boosted one."""
        return self.original if self.original is not None else self

    @property
    def mentioned_ids(self) -> list[int]:
        """The accounts addressed by the post that is read, silently or not, as `can_see` wants them."""
        return self.proper.addressed_ids

    def mark_favourited(self, *, is_favourited: bool) -> None:
        """Show what the viewer has just done to this very post: the mark, and one favourite more or less."""
        self.is_favourited = is_favourited
        self.favourites_count = max(0, self.favourites_count + (1 if is_favourited else -1))

    @property
    def is_reply(self) -> bool:
        """Whether it answers something, known here or not."""
        return self.in_reply_to_id is not None or self.is_orphan


def load_rows(status_ids: Iterable[int], viewer_id: int | None = None) -> list[Row]:
    """The posts with these ids, each once and in their order, whatever their state; unknown ids are left out.

    `is_favourited` and `is_reblogged` are the viewer's marks, False without a viewer; of a boost they, and who is
    addressed, are those of the row it boosts, and its own say nothing.
    """
    ids = list(dict.fromkeys(status_ids))
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"ids": ids, "viewer": viewer_id})
        by_id = {values[0]: Row(*values) for values in cursor.fetchall()}
    for row in by_id.values():
        if row.reblog_of_id is not None:
            row.original = by_id.get(row.reblog_of_id)
    return [by_id[status_id] for status_id in ids if status_id in by_id]
