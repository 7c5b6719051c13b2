"""Compares a post with a viewer's filters (contract, behaviours section 12).

A whole word is compared with the words of a text and never with parts of them: a keyword is whole words and single
characters between them, and so is the text. Anything else is looked for among the characters. Both are one pass over the
text, whatever the filters hold (security row 67).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from social.kernel.text.patterns import Patterns
from social.kernel.text.searching import Text, comparable, split
from statuses.models import FilterAction

CHARACTERS_LIMIT: Final = 20_000
"""Characters of all different keywords of a viewer that are looked for; keywords that come later match nothing."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """Keyword that is looked for."""

    text: str
    whole_word: bool


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A filter that has not expired. `shown` is its entity without keywords and posts."""

    shown: dict[str, Any]
    keywords: tuple[Keyword, ...]
    status_ids: frozenset[int]

    def has_expired(self, moment: datetime) -> bool:
        """Tell whether it matches nothing any more, at a moment after it was read."""
        expires_at = self.shown["expires_at"]
        return expires_at is not None and datetime.fromisoformat(expires_at) <= moment


# A filter and a keyword, by their places among the filters and in the filter.
_Place = tuple[int, int]


class Filters:
    """The active filters of a viewer, in their order, and how posts are compared with all of them at once."""

    def __init__(self, filters: Sequence[ActiveFilter] = ()) -> None:
        self._filters = filters

    def __bool__(self) -> bool:
        return bool(self._filters)

    @cached_property
    def _patterns(self) -> tuple[Patterns[list[_Place]], Patterns[list[_Place]]]:
        """The keywords that are found among characters, and those that are found among words; the same one is one."""
        places: dict[tuple[str, bool], list[_Place]] = {}
        for number, active in enumerate(self._filters):
            for order, keyword in enumerate(active.keywords):
                places.setdefault((comparable(keyword.text), keyword.whole_word), []).append((number, order))
        parts: dict[Sequence[str], list[_Place]] = {}
        words: dict[Sequence[str], list[_Place]] = {}
        room = CHARACTERS_LIMIT
        for (text, whole_word), found in places.items():
            room -= len(text)
            if room < 0:
                break
            if whole_word:
                words[tuple(split(text))] = found
            else:
                parts[text] = found
        return Patterns(parts), Patterns(words)

    def _found(self, text: Text) -> Iterator[tuple[_Place, int, int]]:
        """Keywords in a text, with start and end of their first places."""
        parts, words = self._patterns
        for places, start, end in parts.find(text.lowered):
            for place in places:
                yield place, start, end
        for places, start, end in words.find(text.tokens):
            for place in places:
                yield place, text.ends[start], text.ends[end]

    def search(self, text: Text) -> dict[int, str]:
        """Find for each filter with a keyword in the text, by its place among the filters, what the post writes there.

        Of the keywords of a filter the one that comes first in the text counts.
        """
        first: dict[int, tuple[int, int, int]] = {}
        for (number, order), start, end in self._found(text):
            found = start, order, end
            if number not in first or found < first[number]:
                first[number] = found
        return {number: text.part(start, end) for number, (start, _order, end) in first.items()}

    def results(
        self, words: dict[int, str], status_ids: Collection[int], moment: datetime | None = None
    ) -> list[dict[str, Any]]:
        """The entities "FilterResult" of a post in whose text `search` found these words.

        `status_ids` is its id, and of a boost that of the boosted post. With `moment` filters that have expired until then
        match nothing.
        """
        results: list[dict[str, Any]] = []
        for number, active in enumerate(self._filters):
            matched = [str(status_id) for status_id in status_ids if status_id in active.status_ids]
            if (number in words or matched) and not (moment is not None and active.has_expired(moment)):
                results.append(
                    {
                        "filter": active.shown,
                        "keyword_matches": [words[number]] if number in words else None,
                        "status_matches": matched if active.status_ids else None,
                    }
                )
        return results

    def hides(self, written: str, status_id: int, context: str) -> bool:
        """Ask whether a post with this text is hidden in a context, one of the words of the entity: for what is shown where
        no client reads the results.
        """
        results = self.results(self.search(Text(written)), (status_id,)) if self._filters else []
        shown = [found["filter"] for found in results]
        return any(one["filter_action"] == FilterAction.HIDE and context in one["context"] for one in shown)
