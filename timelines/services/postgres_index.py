"""Full-text search of posts in PostgreSQL.

A document is one `tsvector` with the words of the post and their positions. Lexemes that cannot occur as words stand for the
post's author, for its properties (`Fact`: "has media", "is a reply"), for being public, and for the three time spans to which
the post belongs. One GIN index serves the whole query. The newest posts are found first, without sorting all matches, because
time ranges are queried one after the other; therefore a word in every second post costs no more than a rare word. Visibility is
checked in the statement.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from django.db import connection
from psycopg import sql

from accounts.policies.audience import VIEWER_SETS
from social.kernel import clock
from social.kernel.ids import MAX_ID, first_at
from social.kernel.statements import rows_of
from social.kernel.text.words import Word, query_words, words
from statuses.policies.audience import PUBLIC_SEARCH, THREAD, readable_by_viewer
from timelines.policies.search_query import Scope
from timelines.services.search_index import Document, Search

RESULTS_LIMIT: Final = 10_000
"""Limit on the results of a search over all its pages."""

_PUBLIC: Final = ":public"
_LISTED: Final = ":listed"
# Numbers of low bits of an id that a span ignores: the spans last 18.6 hours, 12.4 days and 199 days.
_SPANS: Final = (("a", 42), ("b", 46), ("c", 50))
_POSITIONS: Final = 255

_INSERTION: Final = """
INSERT INTO timelines_searchdocument (status_id, words)
SELECT d.id, d.words::tsvector FROM unnest(%(ids)s::bigint[], %(words)s::text[]) d (id, words)
  JOIN statuses_status s ON s.id = d.id AND s.deleted_at IS NULL
 ORDER BY d.id
    ON CONFLICT (status_id) DO UPDATE SET words = EXCLUDED.words
RETURNING status_id
"""
_DELETION: Final = "DELETE FROM timelines_searchdocument WHERE status_id = ANY(%(ids)s)"
_OUTDATED_POSTS: Final = """
SELECT status_id FROM timelines_searchdocument WHERE words @@ {query}::tsquery ORDER BY status_id DESC LIMIT {limit}
"""

# The materialised list is found with the indexes alone; its posts are then checked, newest first, until enough of them may be
# shown. `own` tells whether the post was found among the posts that the viewer wrote, favourited, boosted, bookmarked, voted
# in or is mentioned in.
_SEARCH_SQL: Final = f"""
WITH {VIEWER_SETS},
found (id, own) AS MATERIALIZED ({{found}})
SELECT c.id
  FROM (SELECT id, bool_or(own) AS own FROM found WHERE TRUE {{bounds}} GROUP BY id ORDER BY id DESC OFFSET 0) c
 WHERE (SELECT {{shown}} FROM statuses_status s WHERE s.id = c.id)
 LIMIT %(limit)s
"""  # noqa: S608 (constants)
_INDEXABLE: Final = "(SELECT a.indexable FROM accounts_account a WHERE a.id = s.account_id)"
# Authors who have opted out are excluded immediately, even before their documents are written again.
_PUBLICLY_FOUND: Final = f"({PUBLIC_SEARCH.sql()} AND {_INDEXABLE})"
_FOUND_IN_LIBRARY: Final = f"({readable_by_viewer()} AND {THREAD.sql()})"
_SCOPE_CONDITIONS: Final = {
    Scope.PUBLIC: _PUBLICLY_FOUND,
    Scope.LIBRARY: _FOUND_IN_LIBRARY,
    Scope.BOTH: f"({_PUBLICLY_FOUND} AND {_FOUND_IN_LIBRARY})",
    Scope.ALL: f"({_PUBLICLY_FOUND} OR ((c.own OR s.account_id = %(viewer)s) AND {_FOUND_IN_LIBRARY}))",
}
_WORD_MATCHES: Final = "SELECT d.status_id, FALSE FROM timelines_searchdocument d WHERE <fits>"
# Posts between two ids that the viewer favourited, boosted, bookmarked, voted in or is mentioned in. With a join the planner
# decides whether to start with the words or with these posts; for IN it would expect two hundred distinct items, whatever the
# list contains.
_VIEWER_POSTS: Final = """
   SELECT status_id AS id FROM statuses_mention WHERE account_id = %(viewer)s AND NOT silent AND <between status_id>
    UNION ALL SELECT status_id FROM statuses_favourite WHERE account_id = %(viewer)s AND <between status_id>
    UNION ALL SELECT status_id FROM statuses_bookmark WHERE account_id = %(viewer)s AND <between status_id>
    UNION ALL SELECT reblog_of_id FROM statuses_status
               WHERE account_id = %(viewer)s AND deleted_at IS NULL AND <between reblog_of_id>
    UNION ALL SELECT p.status_id FROM statuses_pollvote v JOIN statuses_poll p ON p.id = v.poll_id
               WHERE v.account_id = %(viewer)s AND <between p.status_id>
"""
_LIBRARY: Final = f"""
UNION ALL
SELECT d.status_id, TRUE FROM timelines_searchdocument d JOIN ({_VIEWER_POSTS}) library ON library.id = d.status_id
 WHERE <fits>
"""  # noqa: S608 (constants)

# Searches in the posts of the newest days; most searches need no older posts. The statement is the same for every search,
# because planning it takes longer than running it, and the frequency of the words does not matter here. The viewer's posts of
# two days are looked up one by one; for viewers who are mentioned thousands of times, the posts that contain the words are
# read instead.
_LIBRARY_LIMIT: Final = 1000
_RECENT_CONDITION: Final = "d.words @@ %(query)s::tsquery AND d.words @@ %(spans)s::tsquery"
_RECENT_WORD_MATCHES: Final = f"""
SELECT d.status_id, FALSE FROM timelines_searchdocument d WHERE {_RECENT_CONDITION} AND d.words @@ %(whose)s::tsquery"""  # noqa: S608 (constants)
_RECENT_LIBRARY_MATCHES: Final = f"""
UNION ALL
SELECT id, TRUE FROM library WHERE (SELECT count(*) FROM library) < %(few)s
   AND (SELECT {_RECENT_CONDITION} FROM timelines_searchdocument d WHERE d.status_id = library.id)
UNION ALL
SELECT d.status_id, TRUE FROM timelines_searchdocument d
 WHERE (SELECT count(*) FROM library) >= %(few)s AND {_RECENT_CONDITION} AND d.status_id IN (SELECT id FROM library)"""  # noqa: S608 (constants)
_RECENT_VIEWER_POSTS: Final = re.sub("<between ([a-z_.]+)>", r"\1 BETWEEN %(first)s AND %(last)s", _VIEWER_POSTS)
_RECENT_SEARCH_SQL: Final = {
    scope: _SEARCH_SQL.replace(
        "found (id, own)", f"library (id) AS MATERIALIZED ({_RECENT_VIEWER_POSTS}),\nfound (id, own)", 1
    ).format(
        found=_RECENT_WORD_MATCHES + (_RECENT_LIBRARY_MATCHES if scope is not Scope.PUBLIC else ""),
        bounds="AND id BETWEEN %(first)s AND %(last)s",
        shown=shown,
    )
    for scope, shown in _SCOPE_CONDITIONS.items()
}
_OLDEST_POST: Final = "SELECT status_id FROM timelines_searchdocument ORDER BY status_id LIMIT 1"


@dataclass(frozen=True, slots=True)
class _Stage:
    """A time range that is queried separately: ids from `first` to `end` (exclusive), and the lexemes of its spans."""

    spans: str
    first: int
    end: int
    is_newest: bool = False


class PostgresIndex:
    """The built-in search engine; see `timelines.services.search_index.StatusIndex`."""

    def keep(self, documents: Sequence[Document]) -> None:
        if documents:
            vectors = [vector_of(document) for document in documents]
            rows_of(_INSERTION, {"ids": [document.status_id for document in documents], "words": vectors})

    def remove(self, status_ids: Collection[int]) -> None:
        if status_ids:
            with connection.cursor() as cursor:
                cursor.execute(_DELETION, {"ids": list(status_ids)})

    def list_outdated(self, author_id: int, *, public: bool, limit: int) -> list[int]:
        query = f"'{_author(author_id)}' & '{_LISTED}' & {'!' if public else ''}'{_PUBLIC}'"
        with connection.cursor() as cursor:
            cursor.execute(_text(_OUTDATED_POSTS, query=query, limit=limit))
            return [row[0] for row in cursor.fetchall()]

    def find(self, search: Search) -> list[int]:
        # Each stage is a separate statement, because the page may be full before the last stage.
        result_count = min(search.offset + search.limit, RESULTS_LIMIT)
        if search.query.impossible or search.limit <= 0 or search.offset >= result_count:
            return []
        finding = _Finding(search, result_count)
        return finding.run()[search.offset :] if finding.asks else []


class _Finding:
    """A running search: the query without its time spans, the bounds of ids, and the ids found so far."""

    def __init__(self, search: Search, result_count: int) -> None:
        self.search, self.result_count = search, result_count
        self.query = _query(search)
        query = search.query
        upper = [first_at(_midnight(query.until))] if query.until is not None else []
        lower = [first_at(_midnight(query.since)) - 1] if query.since is not None else []
        self.before = min([*upper, *([search.max_id] if search.max_id is not None else [])], default=None)
        self.after = max([*lower, *([search.min_id] if search.min_id is not None else [])], default=None)
        self.found: set[int] = set()

    @property
    def asks(self) -> bool:
        # A query that consists only of punctuation has no condition.
        bounded = self.search.query.scope is not Scope.ALL or self.search.query.excluded_days
        return bool(self.query or bounded or self.search.query.since or self.search.query.until)

    def run(self) -> list[int]:
        for stage in self._stages():
            self.found |= set(self._ask(stage))
            if len(self.found) >= self.result_count:
                break
        return sorted(self.found, reverse=True)[: self.result_count]

    def _stages(self) -> Iterator[_Stage]:
        """Yield time ranges, newest first, each about twenty times as long as the last, because most searches end early."""
        newest = first_at(clock.now() + timedelta(days=1)) if self.before is None else self.before
        oldest = 0 if self.after is None else self.after
        end = newest + 1
        spans: list[str] = []
        number = newest >> _SPANS[0][1]
        for (name, bits), following in zip(_SPANS, [*_SPANS[1:], None], strict=True):
            # The spans of this size that directly precede the spans already searched: at most three. The spans of the smallest
            # size are tomorrow, today and yesterday.
            last = max(number - 2, oldest >> bits)
            spans += [f"':{name}{each}'" for each in range(number, last - 1, -1)]
            first = min(last, number + 1) << bits
            yield _Stage(" | ".join(spans), first, end, is_newest=following is _SPANS[1])
            if following is _SPANS[1]:
                oldest = max([oldest, *(number for (number,) in rows_of(_OLDEST_POST, {}))])
            if first <= oldest:
                return
            end = first
            if following is not None:
                # The next range begins with the remaining spans of this size, back to the start of a span of the next size.
                number = first >> following[1]
                whole = range((first >> bits) - 1, (number << following[1] - bits) - 1, -1)
                spans = [f"':{name}{each}'" for each in whole]
                number -= 1
        yield _Stage("", 0, end)

    def _ask(self, stage: _Stage) -> list[int]:
        scope = self.search.query.scope
        whose = [f"'{_PUBLIC}'"] if scope in (Scope.PUBLIC, Scope.ALL) else []
        whose += [f"'{_author(self.search.viewer_id)}'"] if scope is not Scope.PUBLIC else []
        if stage.is_newest and self.query and not self.search.query.excluded_days:
            return self._search_recent(stage, " | ".join(whose))
        found = _WORD_MATCHES.replace("<fits>", _all_match(self.query, " | ".join(whose), stage.spans))
        if scope is not Scope.PUBLIC:
            between = rf"\1 >= {stage.first} AND \1 < {stage.end}"
            library = re.sub("<between ([a-z_.]+)>", between, _LIBRARY)
            found += library.replace("<fits>", _all_match(self.query, stage.spans))
        bounds = f"AND id < {stage.end} AND id >= {stage.first} "
        bounds += "" if self.before is None else f"AND id < {self.before} "
        bounds += "" if self.after is None else f"AND id > {self.after} "
        for day in self.search.query.excluded_days:
            following = day + timedelta(days=1) if day < date.max else day
            bounds += f"AND NOT (id >= {first_at(_midnight(day))} AND id < {first_at(_midnight(following))}) "
        with connection.cursor() as cursor:
            statement = _SEARCH_SQL.format(found=found, bounds=bounds, shown=_SCOPE_CONDITIONS[scope])
            cursor.execute(statement, {"viewer": self.search.viewer_id, "limit": self.result_count})
            return [row[0] for row in cursor.fetchall()]

    def _search_recent(self, stage: _Stage, whose: str) -> list[int]:
        values: dict[str, Any] = {
            "viewer": self.search.viewer_id,
            "query": self.query,
            "whose": whose,
            "spans": stage.spans,
            "first": min(MAX_ID, stage.first if self.after is None else max(stage.first, self.after + 1)),
            "last": min(MAX_ID, stage.end if self.before is None else min(stage.end, self.before)) - 1,
            "limit": self.result_count,
            "few": _LIBRARY_LIMIT,
        }
        return [number for (number,) in rows_of(_RECENT_SEARCH_SQL[self.search.query.scope], values)]


def _midnight(day: date) -> datetime:
    return datetime.combine(max(day, date(1970, 1, 1)), time(), UTC)


def _text(statement: str, **values: Any) -> str:
    # The query is a literal, because the planner must see how rare the words are. `%` is doubled for the driver.
    quoted = {name: sql.quote(value).replace("%", "%%") for name, value in values.items()}
    return statement.format(**quoted)


def _author(account_id: int) -> str:
    return f":by{account_id}"


def vector_of(document: Document) -> str:
    """Return the text form of a document's tsvector."""
    positions: dict[str, list[int]] = defaultdict(list)
    for word in words(document.text):
        if len(positions[word.text]) < _POSITIONS:
            positions[word.text].append(word.position)
    marks = [_author(document.author_id), *(f":{fact}" for fact in sorted(document.facts))]
    marks += [f":{name}{document.status_id >> bits}" for name, bits in _SPANS]
    if document.language is not None:
        marks.append(f":lang-{document.language.lower()}")
    if document.listed:
        marks.append(_LISTED)
    if document.public:
        marks.append(_PUBLIC)
    found = [f"'{text}':{','.join(map(str, places))}" for text, places in positions.items()]
    return " ".join([*found, *(f"'{mark}'" for mark in marks)])


def _query(search: Search) -> str:
    # All conditions except time spans and visibility.
    query = search.query
    parts = [phrase for text in query.texts.wanted if (phrase := _phrase(text))]
    parts += [f"!({phrase})" for text in query.texts.excluded if (phrase := _phrase(text))]
    for prefix, sides in (("", query.facts), ("lang-", query.languages)):
        parts += [f"':{prefix}{value.lower()}'" for value in sides.wanted]
        parts += [f"!':{prefix}{value.lower()}'" for value in sides.excluded]
    if search.authors is not None:
        parts.append("(" + " | ".join(f"'{_author(number)}'" for number in search.authors) + ")")
    parts += [f"!'{_author(number)}'" for number in search.excluded_authors]
    return " & ".join(parts)


def _phrase(text: str) -> str:
    # A phrase query of the words with their distances; empty for a part without words.
    parts: list[str] = []
    previous: Word | None = None
    for word in query_words(text):
        if previous is not None:
            parts.append(f"<{word.position - previous.position}>")
        parts.append(f"'{word.text}'{':*' if word.begins else ''}")
        previous = word
    return " ".join(parts) if len(parts) == 1 else f"({' '.join(parts)})" if parts else ""


def _all_match(*queries: str) -> str:
    # Each query that is not empty is a separate condition. For separate conditions, the index checks the spans only for the
    # posts that match the words. For one combined query, it would read the complete posting lists of the spans, because it
    # orders the parts of a query by frequency and ignores how they are nested.
    return " AND ".join(_text("d.words @@ {query}::tsquery", query=query) for query in queries if query) or "TRUE"
