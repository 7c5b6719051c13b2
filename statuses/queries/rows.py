"""Reads of posts what decides who sees them and what changes too often to be kept: one statement for a whole page.

Moments come as milliseconds, because reading the dates of forty rows costs more than the rows. The rest of a post, its
body, is in `statuses.queries.sources`, and read only when no encoded copy is at hand; what a viewer has done with it is in
`statuses.queries.marks`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from social.kernel.statements import fetch

# The columns are the fields of Row, in their order. A post is followed by what it boosts, what that or itself quotes, and what
# the quoted one quotes. Each post is asked for by its id alone (OFFSET 0). The array stands in a SELECT so that its
# length is unknown to the planner, which else plans anew for every page (docs/adr/0011). Nobody is addressed by a boost.
_SQL: Final = """
SELECT s.id, s.account_id, s.visibility, s.deleted_at IS NOT NULL,
       (date_part('epoch', s.created_at) * 1000000)::bigint / 1000, s.uri, s.version, s.local, s.sensitive, s.language,
       s.in_reply_to_id, s.in_reply_to_account_id, s.in_reply_to_uri IS NOT NULL, s.reblog_of_id,
       a.username, a.domain, a.version, a.suspended_at IS NOT NULL, a.limited_at IS NOT NULL, a.sensitized_at IS NOT NULL,
       COALESCE(n.followers_count, 0), COALESCE(n.following_count, 0), COALESCE(n.statuses_count, 0),
       (date_part('epoch', n.last_status_at) * 1000000)::bigint / 1000,
       COALESCE(c.replies_count, 0), COALESCE(c.reblogs_count, 0), COALESCE(c.favourites_count, 0),
       COALESCE(c.quotes_count, 0),
       q.id, p.name::text, p.website, u.preferences->'show_application' IS DISTINCT FROM 'false'::jsonb,
       s.quote_policy, k.state, k.quoted_status_id, e.card_id,
       CASE WHEN s.reblog_of_id IS NULL
            THEN ARRAY(SELECT m.account_id FROM statuses_mention m WHERE m.status_id = s.id) ELSE '{}'::bigint[] END
  FROM unnest((SELECT %(ids)s)::bigint[]) asked (id)
 CROSS JOIN LATERAL (SELECT * FROM statuses_status x WHERE x.id = asked.id OFFSET 0) own
  LEFT JOIN LATERAL (
   SELECT y.quoted_status_id AS id FROM statuses_quote y
    WHERE y.status_id = COALESCE(own.reblog_of_id, own.id) OFFSET 0) quoted ON TRUE
  LEFT JOIN LATERAL (
   SELECT y.quoted_status_id AS id FROM statuses_quote y WHERE y.status_id = quoted.id OFFSET 0) inner_quoted ON TRUE
 CROSS JOIN LATERAL (
   SELECT own.id, own.account_id, own.visibility, own.deleted_at, own.created_at, own.uri, own.version, own.local,
          own.sensitive, own.language, own.in_reply_to_id, own.in_reply_to_account_id, own.in_reply_to_uri,
          own.reblog_of_id, own.application_id, own.quote_policy
    UNION ALL
   SELECT x.id, x.account_id, x.visibility, x.deleted_at, x.created_at, x.uri, x.version, x.local,
          x.sensitive, x.language, x.in_reply_to_id, x.in_reply_to_account_id, x.in_reply_to_uri,
          x.reblog_of_id, x.application_id, x.quote_policy
     FROM statuses_status x WHERE x.id = ANY(ARRAY[own.reblog_of_id, quoted.id, inner_quoted.id]) OFFSET 0) s
  JOIN accounts_account a ON a.id = s.account_id
  LEFT JOIN accounts_accountstat n ON n.account_id = s.account_id
  LEFT JOIN statuses_statusstat c ON c.status_id = s.id
  LEFT JOIN statuses_poll q ON q.status_id = s.id
  LEFT JOIN statuses_quote k ON k.status_id = s.id
  LEFT JOIN statuses_statuscard e ON e.status_id = s.id
  LEFT JOIN accounts_application p ON p.id = s.application_id
  LEFT JOIN accounts_user u ON u.account_id = s.account_id AND s.local
"""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Row:
    """A post without its body, with what is shown of its author's counters. `original` is the boosted post's row,
    `quoted` that of the post it quotes, whatever came of the quote (`quote_state`, None for a post without one).
    """

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
    poll_id: int | None
    application_name: str | None
    application_website: str | None
    shows_application: bool
    quote_policy: int
    quote_state: str | None
    quoted_status_id: int | None
    card_id: int | None
    addressed_ids: list[int]
    original: Row | None = None
    quoted: Row | None = None

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
    def stat(self) -> Row:
        """Where the author's counters are read, as of an account."""
        return self

    @property
    def mentioned_ids(self) -> list[int]:
        """The accounts addressed by the post that is read, silently or not, as `can_see` wants them."""
        return self.proper.addressed_ids

    @property
    def quotes(self) -> list[Row]:
        """The rows that deciding on its quote takes: what the post that is read quotes, and what that quotes."""
        quoted = self.proper.quoted
        if quoted is None:
            return []
        return [quoted] if quoted.quoted is None else [quoted, quoted.quoted]

    @property
    def is_reply(self) -> bool:
        """Whether it answers something: known here, not known, or deleted meanwhile."""
        return self.in_reply_to_id is not None or self.is_orphan or self.in_reply_to_account_id is not None

    def count_favourite(self, change: int) -> None:
        """Show a favourite that was made or taken back since the row was read."""
        self.favourites_count = max(0, self.favourites_count + change)


def load_rows(status_ids: Iterable[int]) -> list[Row]:
    """The posts with these ids, each once and in their order, whatever their state; unknown ids are left out.

    One query, none for no ids. A boost carries the row of the post it boosts, a quote that of the quoted one.
    """
    ids = list(dict.fromkeys(status_ids))
    if not ids:
        return []
    by_id = {values[0]: Row(*values) for values in fetch(_SQL, {"ids": ids})}
    for row in by_id.values():
        if row.reblog_of_id is not None:
            row.original = by_id.get(row.reblog_of_id)
        if row.quoted_status_id is not None:
            row.quoted = by_id.get(row.quoted_status_id)
    return [by_id[status_id] for status_id in ids if status_id in by_id]
