"""Compares a post with a viewer's filters (contract, behaviours section 12).

A whole-word keyword is compared with the words of a text, never with parts of them: keyword and text are both split into words
and the single characters between them. Any other keyword may match any part of the text. Each of the two comparisons takes one
pass over the text, however many filters there are (security row 67).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from social.kernel.text.patterns import Patterns
from social.kernel.text.searching import Text, comparable, split
from statuses.models import FilterAction

CHARACTERS_LIMIT: Final = 20_000
"""Maximum number of characters in all distinct keywords of a viewer; keywords beyond it match nothing."""


@dataclass(frozen=True, slots=True)
class Keyword:
    text: str
    whole_word: bool


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A filter that has not expired. `shown` is its entity without keywords and posts."""

    shown: dict[str, Any]
    keywords: tuple[Keyword, ...]
    status_ids: frozenset[int]

    def has_expired(self, moment: datetime) -> bool:
        """Tell whether the filter, which was read earlier, has expired at this moment."""
        expires_at = self.shown["expires_at"]
        return expires_at is not None and datetime.fromisoformat(expires_at) <= moment


# Index of a filter, and index of a keyword in that filter.
_Place = tuple[int, int]


class Filters:
    """Active filters of a viewer, in order. A post is compared with all filters in one pass."""

    def __init__(self, filters: Sequence[ActiveFilter] = ()) -> None:
        self._filters = filters

    def __bool__(self) -> bool:
        return bool(self._filters)

    @cached_property
    def _patterns(self) -> tuple[Patterns[list[_Place]], Patterns[list[_Place]]]:
        """Patterns for keywords that may match parts of words, and for whole-word keywords; equal keywords share a pattern."""
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

    def _find_keywords(self, text: Text) -> Iterator[tuple[_Place, int, int]]:
        # Each keyword is yielded once, with the start and end of its first match.
        parts, words = self._patterns
        for places, start, end in parts.find(text.lowered):
            for place in places:
                yield place, start, end
        for places, start, end in words.find(text.tokens):
            for place in places:
                yield place, text.ends[start], text.ends[end]

    def search(self, text: Text) -> dict[int, str]:
        """Return the first match of each filter that has a keyword in the text, keyed by the filter's index."""
        first: dict[int, tuple[int, int, int]] = {}
        for (number, order), start, end in self._find_keywords(text):
            found = start, order, end
            if number not in first or found < first[number]:
                first[number] = found
        return {number: text.part(start, end) for number, (start, _order, end) in first.items()}

    def results(
        self, words: dict[int, str], status_ids: Collection[int], moment: datetime | None = None
    ) -> list[dict[str, Any]]:
        """Return the entities "FilterResult" of a post, given the matches that `search` found in its text. `status_ids` are the
        post's id and, for a boost, also the id of the boosted post. Filters that have expired at `moment` match nothing.
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

    def hides(self, text: str, status_id: int, context: str) -> bool:
        """Tell whether a filter hides a post with this text in a context. Used where no client applies filters."""
        results = self.results(self.search(Text(text)), (status_id,)) if self._filters else []
        filter_entities = [found["filter"] for found in results]
        return any(one["filter_action"] == FilterAction.HIDE and context in one["context"] for one in filter_entities)


_STRENGTHS: Final = (FilterAction.HIDE, FilterAction.WARN, FilterAction.BLUR)


def strongest_action(results: Sequence[dict[str, Any]], context: str) -> tuple[FilterAction | None, str]:
    """Return the strongest action in these entities "FilterResult" that applies in the context, and the title of its filter.
    Hiding the post is stronger than covering the post; covering the post is stronger than covering its files. None and "" if no
    action applies.
    """
    found = {
        result["filter"]["filter_action"]: result["filter"]["title"]
        for result in reversed(results)
        if context in result["filter"]["context"]
    }
    return next(((action, found[action]) for action in _STRENGTHS if action in found), (None, ""))
