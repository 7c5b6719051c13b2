"""Searches for many patterns in one pass over a text (A. Aho and M. Corasick, "Efficient string matching", 1975)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Found(NamedTuple, Generic[T]):
    """First occurrence of a pattern: `start` and `end` are positions of items, `value` is the value given for the pattern."""

    value: T
    start: int
    end: int


class Patterns(Generic[T]):
    """Patterns that are searched for together: texts as sequences of characters, or sequences of words.

    Construction takes time and memory proportional to the items of all patterns. `find` takes time proportional to the items
    of the searched text and the number of patterns, however patterns and text overlap (security row 67).
    """

    def __init__(self, values: Mapping[Sequence[str], T]) -> None:
        # Transitions by state; a state is a prefix of patterns, and 0 is the empty prefix.
        self._following: list[dict[str, int]] = [{}]
        self._ended: dict[int, tuple[T, int]] = {}
        for pattern, value in values.items():
            state = 0
            for item in pattern:
                state = self._following[state].setdefault(item, len(self._following))
                if state == len(self._following):
                    self._following.append({})
            if state:
                self._ended[state] = value, len(pattern)
        # For each state, the longest shorter state that is a suffix of it (the failure link).
        self._shorter = [0] * len(self._following)
        # For each state, the longest pattern that is a suffix of the state or the state itself, and the longest pattern that is
        # a suffix and shorter than the state.
        self._longest = list(self._shorter)
        self._next_longest = list(self._shorter)
        states = [0]
        for state in states:
            for item, following in self._following[state].items():
                shorter = self._step(self._shorter[state], item) if state else 0
                self._shorter[following] = shorter
                self._next_longest[following] = self._longest[shorter]
                self._longest[following] = following if following in self._ended else self._longest[shorter]
                states.append(following)

    def _step(self, state: int, item: str) -> int:
        following = self._following
        while item not in following[state]:
            if not state:
                return 0
            state = self._shorter[state]
        return following[state][item]

    def find(self, items: Sequence[str]) -> Iterator[Found[T]]:
        """Return the first occurrence of each pattern in these items, in no particular order."""
        if not self._ended:
            return
        following, shorter, longest = self._following, self._shorter, self._longest
        ends: dict[int, int] = {}
        state = 0
        for place, item in enumerate(items):
            # A copy of the code of `_step`, because calling `_step` would double the time.
            while (reached := following[state].get(item)) is None and state:
                state = shorter[state]
            state = reached or 0
            ended = longest[state]
            # If a pattern was found before, all patterns that are suffixes of it were found too.
            while ended and ended not in ends:
                ends[ended] = place + 1
                ended = self._next_longest[ended]
        for ended, end in ends.items():
            value, length = self._ended[ended]
            yield Found(value, end - length, end)
