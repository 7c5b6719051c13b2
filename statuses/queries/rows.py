"""Reads of posts what decides who sees them and what changes too often to be kept: one statement for a whole page.

The rest of a post, its body, is in `statuses.queries.sources`, and read only when no encoded copy is at hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection

_SQL: Final = """
SELECT s.id, s.account_id, s.visibility, s.deleted_at IS NOT NULL, s.created_at, s.uri, s.version, s.local, s.sensitive,
       s.language, s.in_reply_to_id, s.in_reply_to_account_id, s.in_reply_to_uri IS NOT NULL, s.reblog_of_id,
       a.username, a.domain, a.version, a.suspended_at IS NOT NULL, a.limited_at IS NOT NULL,
       a.sensitized_at IS NOT NULL,
       COALESCE(n.followers_count, 0), COALESCE(n.following_count, 0), COALESCE(n.statuses_count, 0), n.last_status_at,
       COALESCE(c.replies_count, 0), COALESCE(c.reblogs_count, 0), COALESCE(c.favourites_count, 0),
       COALESCE(c.quotes_count, 0),
       p.name, p.website, u.preferences->'show_application' IS DISTINCT FROM 'false'::jsonb,
       ARRAY(SELECT m.account_id FROM statuses_mention m WHERE m.status_id = s.id)
  FROM statuses_status s
  JOIN accounts_account a ON a.id = s.account_id
  LEFT JOIN accounts_accountstat n ON n.account_id = s.account_id
  LEFT JOIN statuses_statusstat c ON c.status_id = s.id
  LEFT JOIN accounts_application p ON p.id = s.application_id
  LEFT JOIN accounts_user u ON u.account_id = s.account_id AND s.local
 WHERE s.id IN (SELECT unnest(%(ids)s::bigint[])
                UNION SELECT reblog_of_id FROM statuses_status
                       WHERE id = ANY(%(ids)s::bigint[]) AND reblog_of_id IS NOT NULL)
"""


@dataclass(slots=True)
class Row:
    """A post without its body, with what is shown of its author's counters. `original` is the boosted post's row."""

    id: int
    account_id: int
    visibility: str
    is_deleted: bool
    created_at: datetime
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
    last_status_at: datetime | None
    replies_count: int
    reblogs_count: int
    favourites_count: int
    quotes_count: int
    application_name: str | None
    application_website: str | None
    shows_application: bool
    addressed_ids: list[int]
    original: Row | None = None

    @property
    def proper(self) -> Row:
        """The post that is read: of a boost the boosted one."""
        return self.original if self.original is not None else self

    @property
    def mentioned_ids(self) -> list[int]:
        """The accounts addressed by the post that is read, silently or not, as `can_see` wants them."""
        return self.proper.addressed_ids

    @property
    def is_reply(self) -> bool:
        """Whether it answers something, known here or not."""
        return self.in_reply_to_id is not None or self.is_orphan


def load_rows(status_ids: Iterable[int]) -> list[Row]:
    """The posts with these ids, each once and in their order, whatever their state; unknown ids are left out."""
    ids = list(dict.fromkeys(status_ids))
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_SQL, {"ids": ids})
        by_id = {values[0]: Row(*values) for values in cursor.fetchall()}
    for row in by_id.values():
        if row.reblog_of_id is not None:
            row.original = by_id.get(row.reblog_of_id)
    return [by_id[status_id] for status_id in ids if status_id in by_id]
