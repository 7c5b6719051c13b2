"""Full-text search of posts in PostgreSQL.

A document is one `tsvector`: its words with their positions, and, as lexemes that no word can be, its author, what can be
asked of it, whether everybody may find it, and three spans of time that it was written in. One GIN index answers all of a
query, and the newest posts are found first without sorting all that fit: the spans are asked one after the other, so that
a word that is in every third post costs no more than a rare one. Visibility is part of the statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from django.db import connection
from psycopg import sql

from accounts.policies.relations import (
    BLOCKED_BY_VIEWER,
    BLOCKERS_OF_VIEWER,
    DOMAINS_BLOCKED_BY_VIEWER,
    MUTED_BY_VIEWER,
)
from social.kernel import clock
from social.kernel.ids import first_at
from social.kernel.text.words import Word, wanted_words, words
from statuses.policies.visibility import FOLLOWED, PUBLIC_POST, readable_by_viewer
from timelines.policies.search_query import Scope
from timelines.services.status_index import Document, Search

MOST: Final = 10_000
"""No more are ever found, whatever page is asked for."""

_PUBLIC: Final = ":public"
_LISTED: Final = ":listed"
# Bits of an id that one span leaves out: spans of 18.6 hours, 12.4 days and 199 days.
_SPANS: Final = (("a", 42), ("b", 46), ("c", 50))
_POSITIONS: Final = 255

_KEEP: Final = """
INSERT INTO timelines_searchdocument (status_id, words)
SELECT d.id, d.words::tsvector FROM unnest(%(ids)s::bigint[], %(words)s::text[]) d (id, words)
  JOIN statuses_status s ON s.id = d.id AND s.deleted_at IS NULL
 ORDER BY d.id
    ON CONFLICT (status_id) DO UPDATE SET words = EXCLUDED.words
"""
_REMOVE: Final = "DELETE FROM timelines_searchdocument WHERE status_id = ANY(%(ids)s)"
_OUTDATED: Final = """
SELECT status_id FROM timelines_searchdocument WHERE words @@ {query}::tsquery ORDER BY status_id DESC LIMIT {limit}
"""

# The materialised list is found by the index alone; whoever may not be shown is left out from the newest on, until there
# are enough.
_FIND: Final = f"""
WITH unwanted (id) AS MATERIALIZED ({BLOCKED_BY_VIEWER} UNION ALL {BLOCKERS_OF_VIEWER} UNION ALL {MUTED_BY_VIEWER}),
unwanted_domains (domain) AS MATERIALIZED ({DOMAINS_BLOCKED_BY_VIEWER}),
found (id) AS MATERIALIZED ({{found}})
SELECT c.id FROM (SELECT id FROM found WHERE TRUE {{bounds}} ORDER BY id DESC OFFSET 0) c
 WHERE (SELECT {{shown}} FROM statuses_status s WHERE s.id = c.id)
 LIMIT %(limit)s
"""  # noqa: S608 (constants)
_SHOWN_AUTHOR: Final = f"""(s.account_id NOT IN (SELECT id FROM unwanted)
    AND (SELECT a.suspended_at IS NULL AND (a.domain IS NULL OR a.domain NOT IN (SELECT domain FROM unwanted_domains))
                AND (a.limited_at IS NULL OR {FOLLOWED.format(author="a.id")})
           FROM accounts_account a WHERE a.id = s.account_id))"""  # noqa: S608 (constants)
_INDEXABLE: Final = "(SELECT a.indexable FROM accounts_account a WHERE a.id = s.account_id)"
# Who has changed their mind is not found any more, before the documents are written again.
_PUBLICLY_FOUND: Final = f"{PUBLIC_POST} AND {_SHOWN_AUTHOR} AND {_INDEXABLE}"
_FOUND_IN_LIBRARY: Final = f"{readable_by_viewer()} AND (s.account_id = %(viewer)s OR {_SHOWN_AUTHOR})"
_BY_WORDS: Final = "SELECT status_id FROM timelines_searchdocument WHERE words @@ {query}::tsquery"
# What the viewer has to do with: the planner decides whether it begins with the words or with the viewer's own rows.
_LIBRARY: Final = """
SELECT status_id FROM timelines_searchdocument WHERE words @@ {own}::tsquery
 UNION
SELECT d.status_id FROM timelines_searchdocument d
 WHERE FITS AND d.status_id IN (
   SELECT status_id FROM statuses_mention WHERE account_id = %(viewer)s AND NOT silent
    UNION ALL SELECT status_id FROM statuses_favourite WHERE account_id = %(viewer)s
    UNION ALL SELECT status_id FROM statuses_bookmark WHERE account_id = %(viewer)s
    UNION ALL SELECT reblog_of_id FROM statuses_status
               WHERE account_id = %(viewer)s AND reblog_of_id IS NOT NULL AND deleted_at IS NULL
    UNION ALL SELECT p.status_id FROM statuses_pollvote v JOIN statuses_poll p ON p.id = v.poll_id
               WHERE v.account_id = %(viewer)s)
"""


class PostgresIndex:
    """The search engine that is always there; see `timelines.services.status_index.StatusIndex`."""

    def keep(self, documents: Sequence[Document]) -> None:
        """Two posts at once are written in the order of their ids: writers cannot wait for each other."""
        if documents:
            with connection.cursor() as cursor:
                vectors = [vector_of(document) for document in documents]
                cursor.execute(_KEEP, {"ids": [document.status_id for document in documents], "words": vectors})

    def remove(self, status_ids: Collection[int]) -> None:
        """One statement."""
        if status_ids:
            with connection.cursor() as cursor:
                cursor.execute(_REMOVE, {"ids": list(status_ids)})

    def list_outdated(self, author_id: int, *, public: bool, limit: int) -> list[int]:
        """One statement, by the index."""
        query = f"'{_author(author_id)}' & '{_LISTED}' & {'!' if public else ''}'{_PUBLIC}'"
        with connection.cursor() as cursor:
            cursor.execute(_text(_OUTDATED, query=query, limit=limit))
            return [row[0] for row in cursor.fetchall()]

    def find(self, search: Search) -> list[int]:
        """Up to seven statements, as few as it takes to fill the page."""
        wanted = min(search.offset + search.limit, MOST)
        if search.query.impossible or search.limit <= 0 or search.offset >= wanted:
            return []
        finding = _Finding(search, wanted)
        return finding.run()[search.offset :] if finding.asks else []


class _Finding:
    """One search: the query without its spans, the bounds of ids, and what was found so far."""

    def __init__(self, search: Search, wanted: int) -> None:
        self.search, self.wanted = search, wanted
        self.query = _query(search)
        query = search.query
        upper = [first_at(_midnight(query.until))] if query.until is not None else []
        lower = [first_at(_midnight(query.since)) - 1] if query.since is not None else []
        self.before = min([*upper, *([search.max_id] if search.max_id is not None else [])], default=None)
        self.after = max([*lower, *([search.min_id] if search.min_id is not None else [])], default=None)
        self.found: set[int] = set()

    @property
    def asks(self) -> bool:
        """Whether anything is asked of posts: signs alone ask for nothing."""
        bounded = self.search.query.scope is not Scope.ALL or self.search.query.excluded_days
        return bool(self.query or bounded or self.search.query.since or self.search.query.until)

    def run(self) -> list[int]:
        """Everything that is asked for, from the newest on."""
        scope = self.search.query.scope
        if scope is not Scope.PUBLIC:
            own = _both(self.query, f"'{_author(self.search.viewer_id)}'")
            fits = _text("d.words @@ {query}::tsquery", query=self.query) if self.query else "TRUE"
            self.found |= set(self._ask(_text(_LIBRARY, own=own).replace("FITS", fits), _FOUND_IN_LIBRARY))
        if scope is not Scope.LIBRARY:
            public = _both(self.query, f"'{_PUBLIC}'")
            for spans, lowest in self._spans():
                found = _text(_BY_WORDS, query=_both(public, spans))
                self.found |= set(self._ask(found, _PUBLICLY_FOUND))
                if sum(number >= lowest for number in self.found) >= self.wanted:
                    break
        return sorted(self.found, reverse=True)[: self.wanted]

    def _spans(self) -> Iterator[tuple[str, int]]:
        """Lexemes of spans from the newest to the oldest, and the lowest id in them; all at once for the posts of a few
        people, who have a bounded number.
        """
        if self.search.authors is not None:
            yield "", 0
            return
        newest = first_at(clock.now() + timedelta(days=1)) if self.before is None else self.before
        oldest = 0 if self.after is None else self.after
        end = newest >> _SPANS[0][1]
        for (name, bits), following in zip(_SPANS, [*_SPANS[1:], None], strict=True):
            # Down to the beginning of the span of the next size before the present one.
            begin = 0 if following is None else max(0, ((end << bits) >> following[1]) - 1) << (following[1] - bits)
            numbers = range(end, max(begin, oldest >> bits) - 1, -1)
            # First a few of each size (of the smallest: tomorrow, today and yesterday), so that work grows with what is found.
            for part in (numbers[:3], numbers[3:]):
                if part:
                    yield " | ".join(f"':{name}{number}'" for number in part), part[-1] << bits
            if following is None or begin << bits <= oldest:
                return
            end = (begin << bits >> following[1]) - 1

    def _ask(self, found: str, shown: str) -> list[int]:
        bounds = "" if self.before is None else f"AND id < {self.before} "
        bounds += "" if self.after is None else f"AND id > {self.after} "
        for day in self.search.query.excluded_days:
            following = day + timedelta(days=1) if day < date.max else day
            bounds += f"AND NOT (id >= {first_at(_midnight(day))} AND id < {first_at(_midnight(following))}) "
        with connection.cursor() as cursor:
            statement = _FIND.format(found=found, bounds=bounds, shown=shown)
            cursor.execute(statement, {"viewer": self.search.viewer_id, "limit": self.wanted})
            return [row[0] for row in cursor.fetchall()]


def _midnight(day: date) -> datetime:
    return datetime.combine(max(day, date(1970, 1, 1)), time(), UTC)


def _text(statement: str, **values: Any) -> str:
    """A statement with its query written out: the planner must see how rare the words are. `%` is doubled for the driver."""
    quoted = {name: sql.quote(value).replace("%", "%%") for name, value in values.items()}
    return statement.format(**quoted)


def _author(account_id: int) -> str:
    return f":by{account_id}"


def vector_of(document: Document) -> str:
    """The text form of a document's tsvector."""
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
    """The tsquery of everything but spans of time and who may find it; empty when nothing is asked of posts."""
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
    """The words of a part, at their distances from each other. A part without words asks for nothing."""
    written: list[str] = []
    previous: Word | None = None
    for word in wanted_words(text):
        if previous is not None:
            written.append(f"<{word.position - previous.position}>")
        written.append(f"'{word.text}'{':*' if word.begins else ''}")
        previous = word
    return " ".join(written) if len(written) == 1 else f"({' '.join(written)})" if written else ""


def _both(*queries: str) -> str:
    return " & ".join(f"({query})" for query in queries if query)
