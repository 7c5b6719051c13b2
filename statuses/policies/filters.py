"""Which of a viewer's filters match a post (contract, behaviours section 12).

Matching takes time proportional to the length of the text for each keyword, whatever the keyword and the text: texts are
searched for literally, and of a run of word characters only the beginning is tried for a whole word.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any


@dataclass(frozen=True, slots=True)
class Keyword:
    """What is looked for."""

    text: str
    whole_word: bool


@dataclass(frozen=True, slots=True)
class ActiveFilter:
    """A filter that has not expired. `shown` is its entity without keywords and posts."""

    shown: dict[str, Any]
    keywords: tuple[Keyword, ...]
    status_ids: frozenset[int]

    def has_expired(self, moment: datetime) -> bool:
        """Whether it matches nothing any more, at a moment after it was read."""
        expires_at = self.shown["expires_at"]
        return expires_at is not None and datetime.fromisoformat(expires_at) <= moment


class Text:
    """A text to be searched: as it was written, and with every letter in lower case at the same place."""

    def __init__(self, written: str) -> None:
        self.written = written
        lowered = written.lower()
        # Some letters become two in lower case: those stay as they are, so that places agree.
        self.lowered = lowered if len(lowered) == len(written) else "".join(map(_lower, written))

    def find(self, keyword: Keyword) -> tuple[int, int] | None:
        """The first place of a keyword, as start and end."""
        wanted = _lowered(keyword.text)
        if not wanted:
            return None
        text, size = self.lowered, len(wanted)
        begins_word = keyword.whole_word and is_word(wanted[0])
        ends_word = keyword.whole_word and is_word(wanted[-1])
        start = text.find(wanted)
        while start >= 0:
            end = start + size
            whole = not (begins_word and start and is_word(text[start - 1])) and not (
                ends_word and end < len(text) and is_word(text[end])
            )
            if whole:
                return start, end
            following = start + 1
            if begins_word:
                # No other whole word begins inside this one.
                while following < len(text) and is_word(text[following]):
                    following += 1
            start = text.find(wanted, following)
        return None


def is_word(character: str) -> bool:
    """Whether a character is part of a word, in any script: letters, digits, marks put on letters, and `_`."""
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"


def match(filters: Iterable[ActiveFilter], text: Text, status_ids: Iterable[int]) -> list[dict[str, Any]]:
    """The entities "FilterResult" of a post: `status_ids` is its id, and of a boost that of the boosted post.

    Of the keywords of a filter the one that comes first in the text counts, as the post writes it.
    """
    ids = list(status_ids)
    results: list[dict[str, Any]] = []
    for active in filters:
        places = [place for place in map(text.find, active.keywords) if place is not None]
        matched = [str(number) for number in ids if number in active.status_ids]
        if places or matched:
            start, end = min(places, default=(0, 0), key=lambda place: place[0])
            results.append(
                {
                    "filter": active.shown,
                    "keyword_matches": [text.written[start:end]] if places else None,
                    "status_matches": matched if active.status_ids else None,
                }
            )
    return results


@lru_cache(4096)
def _lowered(text: str) -> str:
    return "".join(map(_lower, text))


def _lower(character: str) -> str:
    lowered = character.lower()
    return lowered if len(lowered) == 1 else character
