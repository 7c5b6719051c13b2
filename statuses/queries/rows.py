"""Reads of posts what decides who sees them and what changes too often to be kept: one statement for a whole page.

Moments come as milliseconds, because reading the dates of forty rows costs more than the rows. The rest of a post, its
body, is in `statuses.queries.sources`, and read only when no encoded copy is at hand; what a viewer has done with it is in
`statuses.queries.marks`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from social.kernel.statements import fetch

# A statement that joins these tables gets plans that read the small ones whole, some of them once for each post, and where it
# gets none such it asks each of them post by post. Each table is asked once here, for all ids, by its index, and the rows are
# put together in Python; the ids come from subselects, whose length the planner does not know (docs/adr/0011).
# All parts have the same columns: the part's number, nine numbers, three texts, four truths.
_POST, _AUTHOR, _AUTHOR_STAT, _STAT, _QUOTE, _POLL, _CARD, _MENTION = range(8)


def _part(
    number: int, numbers: Sequence[str], source: str, texts: Sequence[str] = (), truths: Sequence[str] = ()
) -> str:
    columns = [str(number)]
    for given, width in ((numbers, 9), (texts, 3), (truths, 4)):
        columns += [*given, *["NULL"] * (width - len(given))]
    return f"SELECT {', '.join(columns)} FROM {source}"  # noqa: S608 (constants)


def _milliseconds(moment: str) -> str:
    return f"(date_part('epoch', {moment}) * 1000000)::bigint / 1000"


# In the order of the fields of Row.
_COLUMNS: Final = f"""
  id, account_id, {_milliseconds("created_at")} AS created_ms, in_reply_to_id, in_reply_to_account_id, reblog_of_id,
  application_id, version, quote_policy, visibility, uri, language, deleted_at IS NOT NULL AS is_deleted, local, sensitive,
  in_reply_to_uri IS NOT NULL AS is_orphan
"""
_BODIES: Final = "ANY((SELECT ids FROM bodies)::bigint[])"
_PEOPLE: Final = "ANY((SELECT ids FROM people)::bigint[])"
_PARTS: Final = "\nUNION ALL\n".join(
    (
        _part(
            _AUTHOR,
            ("id", "version"),
            f"accounts_account WHERE id = {_PEOPLE}",
            ("username", "domain"),
            ("suspended_at IS NOT NULL", "limited_at IS NOT NULL", "sensitized_at IS NOT NULL"),
        ),
        _part(
            _AUTHOR_STAT,
            ("account_id", "followers_count", "following_count", "statuses_count"),
            f"accounts_accountstat WHERE account_id = {_PEOPLE}",
            ("to_char(last_status_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",),
        ),
        _part(
            _STAT,
            ("status_id", "replies_count", "reblogs_count", "favourites_count", "quotes_count"),
            f"statuses_statusstat WHERE status_id = {_BODIES}",
        ),
        _part(_QUOTE, ("status_id", "quoted_status_id"), "quote", ("state",)),
        _part(_QUOTE, ("status_id", "quoted_status_id"), "inner_quote", ("state",)),
        _part(_POLL, ("status_id", "id"), f"statuses_poll WHERE status_id = {_BODIES}"),
        _part(_CARD, ("status_id", "card_id"), f"statuses_statuscard WHERE status_id = {_BODIES}"),
        _part(_MENTION, ("status_id", "account_id"), f"statuses_mention WHERE status_id = {_BODIES}"),
    )
)
# Besides the posts asked for: what they boost, what those or they themselves quote, and what the quoted ones quote. A boost
# quotes nothing, is counted nowhere and addresses nobody.
_SQL: Final = f"""
WITH own AS MATERIALIZED (SELECT {_COLUMNS} FROM statuses_status WHERE id = ANY((SELECT %(ids)s)::bigint[])),
quote AS MATERIALIZED (
  SELECT status_id, quoted_status_id, state FROM statuses_quote
   WHERE status_id = ANY(ARRAY(SELECT COALESCE(reblog_of_id, id) FROM own))
),
inner_quote AS MATERIALIZED (
  SELECT status_id, quoted_status_id, state FROM statuses_quote
   WHERE status_id = ANY(ARRAY(SELECT quoted_status_id FROM quote))
),
post AS MATERIALIZED (
  SELECT * FROM own
   UNION ALL
  SELECT {_COLUMNS} FROM statuses_status
   WHERE id = ANY(ARRAY(
     SELECT reblog_of_id FROM own WHERE reblog_of_id IS NOT NULL
      UNION ALL
     SELECT quoted_status_id FROM quote
      UNION ALL
     SELECT quoted_status_id FROM inner_quote))
),
bodies (ids) AS MATERIALIZED (SELECT ARRAY(SELECT id FROM post WHERE reblog_of_id IS NULL)),
people (ids) AS MATERIALIZED (SELECT ARRAY(SELECT account_id FROM post))
SELECT {_POST}, * FROM post
UNION ALL
{_PARTS}
"""  # noqa: S608 (constants)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(slots=True)
class Author:
    """Who wrote a post: what decides whether it is seen, and what is counted."""

    id: int
    version: int
    username: str
    domain: str | None
    is_suspended: bool
    is_limited: bool
    is_sensitized: bool
    followers_count: int = 0
    following_count: int = 0
    statuses_count: int = 0
    last_status_on: str | None = None


@dataclass(slots=True)
class Row:
    """A post without its body. `original` is the boosted post's row, `quoted` that of the post it quotes, whatever came of
    the quote (`quote_state`, None for a post without one).
    """

    id: int
    account_id: int
    created_ms: int
    in_reply_to_id: int | None
    in_reply_to_account_id: int | None
    reblog_of_id: int | None
    application_id: int | None
    version: int
    quote_policy: int
    visibility: str
    uri: str | None
    language: str | None
    is_deleted: bool
    local: bool
    sensitive: bool
    is_orphan: bool
    author: Author
    replies_count: int = 0
    reblogs_count: int = 0
    favourites_count: int = 0
    quotes_count: int = 0
    poll_id: int | None = None
    quote_state: str | None = None
    quoted_status_id: int | None = None
    card_id: int | None = None
    addressed_ids: list[int] = field(default_factory=list)
    original: Row | None = None
    quoted: Row | None = None

    @property
    def username(self) -> str:
        """The author's name."""
        return self.author.username

    @property
    def domain(self) -> str | None:
        """The author's server, None for this one."""
        return self.author.domain

    @property
    def is_author_suspended(self) -> bool:
        """Whether nothing of its author is shown."""
        return self.author.is_suspended

    @property
    def is_author_limited(self) -> bool:
        """Whether its author is kept out of public places."""
        return self.author.is_limited

    @property
    def is_author_sensitized(self) -> bool:
        """Whether everything of its author is sensitive."""
        return self.author.is_sensitized

    @property
    def created_at(self) -> datetime:
        """When it was written."""
        return _EPOCH + timedelta(milliseconds=self.created_ms)

    @property
    def proper(self) -> Row:
        """The post that is read: of a boost the boosted one."""
        return self.original if self.original is not None else self

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
    found: defaultdict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for values in fetch(_SQL, {"ids": ids}):
        found[values[0]].append(values)
    authors = _authors(found)
    by_id = {values[1]: Row(*(*values[1:], authors[values[2]])) for values in found[_POST]}
    _complete(by_id, found)
    return [by_id[status_id] for status_id in ids if status_id in by_id]


def _authors(found: defaultdict[int, list[tuple[Any, ...]]]) -> dict[int, Author]:
    authors = {values[1]: Author(*values[1:3], *values[10:12], *values[13:16]) for values in found[_AUTHOR]}
    for values in found[_AUTHOR_STAT]:
        author = authors[values[1]]
        author.followers_count, author.following_count, author.statuses_count = values[2:5]
        author.last_status_on = values[10]
    return authors


def _complete(by_id: dict[int, Row], found: defaultdict[int, list[tuple[Any, ...]]]) -> None:
    for values in found[_STAT]:
        row = by_id[values[1]]
        row.replies_count, row.reblogs_count, row.favourites_count, row.quotes_count = values[2:6]
    for values in found[_POLL]:
        by_id[values[1]].poll_id = values[2]
    for values in found[_CARD]:
        by_id[values[1]].card_id = values[2]
    for values in found[_MENTION]:
        by_id[values[1]].addressed_ids.append(values[2])
    for values in found[_QUOTE]:
        row = by_id[values[1]]
        row.quoted_status_id, row.quote_state = values[2], values[10]
    for row in by_id.values():
        if row.reblog_of_id is not None:
            row.original = by_id.get(row.reblog_of_id)
        if row.quoted_status_id is not None:
            row.quoted = by_id.get(row.quoted_status_id)
