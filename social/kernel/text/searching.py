"""A text prepared to be searched for many keywords: its letters in lower case, and the words it consists of."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import regex

TEXT_LIMIT: Final = 5_000
"""Characters of a text that are searched, ten times the longest post of this server: a page of the longest texts that others
send must not hold up anybody (security row 67)."""

# Words in any script are letters, digits, marks put on letters, and `_`.
_TOKENS: Final = regex.compile(r"[\p{L}\p{N}\p{M}_]++|.", regex.DOTALL)


class Text:
    """The beginning of a text, to be searched: as it was written, and with every letter in lower case at the same place."""

    def __init__(self, written: str) -> None:
        self.written = written[:TEXT_LIMIT]
        self.lowered = lowered(self.written)

    @cached_property
    def tokens(self) -> list[str]:
        """Words and the characters between them, in lower case."""
        return split(self.lowered)

    @cached_property
    def ends(self) -> list[int]:
        """Position where each token ends; before them the beginning of the text."""
        ends = [0]
        for token in self.tokens:
            ends.append(ends[-1] + len(token))
        return ends


def split(text: str) -> list[str]:
    """Words of a text and the characters between them."""
    tokens: list[str] = _TOKENS.findall(text)
    return tokens


def lowered(text: str) -> str:
    """A text in lower case, as long as before: some letters become two in lower case, and those stay as they are."""
    changed = text.lower()
    return changed if len(changed) == len(text) else "".join(map(_lower, text))


def _lower(character: str) -> str:
    changed = character.lower()
    return changed if len(changed) == 1 else character
