"""Texts prepared for a search for many keywords: their form for comparison, and their words."""

import unicodedata
from collections.abc import Iterator
from functools import cached_property
from typing import Final

import regex

TEXT_LIMIT: Final = 5_000
"""Number of visible characters of a text that are searched: ten times the longest post of this server. Searching a page
of the longest remote texts must not delay other requests (security row 67).
"""

# Words in any script are letters, digits, marks put on letters, and `_`.
_TOKENS: Final = regex.compile(r"[\p{L}\p{N}\p{M}_]++|.", regex.DOTALL)


# Characters that are not displayed: those of Unicode's Default_Ignorable_Code_Point, and control characters and marks of
# annotations, to which browsers give no width.
_INVISIBLE: Final = r"\p{Default_Ignorable_Code_Point}\p{Cc}\ufff9-\ufffc"
# Blanks and characters that are not displayed; a run of them counts as its first blank.
_GAPS: Final = regex.compile(rf"[\s{_INVISIBLE}]++")
_BLANK: Final = regex.compile(r"\s")
_REDUNDANT: Final = regex.compile(rf"\s{{2}}|(?!\s)[{_INVISIBLE}]")
# Marks beyond eight on one letter, which are dropped because normalising takes time quadratic in their number.
_MARKS: Final = regex.compile(r"(?<=\p{M}{8})\p{M}++")
# A character, and the following characters that NFKC may combine with it.
_PIECES: Final = regex.compile(r".[\p{M}\p{NFKC_Quick_Check=Maybe}\uff9e\uff9f]*+", regex.DOTALL)
# NFKC would turn each of the two ligatures into 18 characters; a sharp s is written SS in upper case.
_LETTERS: Final = str.maketrans({"\ufdfa": "\U000ffffa", "\ufdfb": "\U000ffffb", "ß": "ss", "ẞ": "ss"})


def comparable(text: str) -> str:
    """Return the form in which texts and keywords are compared: NFKC, in lower case, without characters that are not
    displayed, with one space for a run of blanks, and at most eight marks on a letter (security row 74).

    Only the first TEXT_LIMIT visible characters count. Linear in the length of the text.
    """
    kept = "".join(text[start:end] for start, end in _visible_parts(text))
    compared: str = _BLANK.sub(" ", lowered(_composed(_MARKS.sub("", kept))))
    return compared


def beginning(text: str) -> str:
    """Return the part of a text that is searched: its first TEXT_LIMIT visible characters."""
    return text if len(text) <= TEXT_LIMIT else "".join(text[start:end] for start, end in _visible_parts(text))


def _visible_parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the searched parts of a text: visible characters and one blank of each gap, TEXT_LIMIT in all."""
    if not _REDUNDANT.search(text, 0, TEXT_LIMIT):
        yield 0, min(len(text), TEXT_LIMIT)
        return
    room = TEXT_LIMIT
    done = 0
    for gap in _GAPS.finditer(text):
        if gap.start() - done >= room:
            break
        if gap.start() > done:
            yield done, gap.start()
            room -= gap.start() - done
        done = gap.end()
        blank = _BLANK.search(text, *gap.span())
        if blank is not None and room > 0:
            yield blank.span()
            room -= 1
        if room <= 0:
            return
    if done < len(text):
        yield done, min(len(text), done + room)


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text.translate(_LETTERS))


class Text:
    """The beginning of a text to be searched, as written and in the form for comparison."""

    def __init__(self, written: str) -> None:
        self.written = written
        self.lowered = comparable(written)

    @cached_property
    def tokens(self) -> list[str]:
        """Words and the characters between them, in lower case."""
        return split(self.lowered)

    @cached_property
    def ends(self) -> list[int]:
        """0 for the beginning of the text, followed by the positions where the tokens end."""
        ends = [0]
        for token in self.tokens:
            ends.append(ends[-1] + len(token))
        return ends

    def part(self, start: int, end: int) -> str:
        """Return the written text between two positions in the form for comparison."""
        places = self._places
        last = next((place for place in places[end:] if place > places[end - 1]), len(self.written))
        if end < len(places):
            last = max(places[end - 1] + 1, min(last, places[end]))
        return self.written[places[start] : last].rstrip() if end > start else ""

    @cached_property
    def _places(self) -> list[int]:
        """Position in the written text of each character of the form for comparison."""
        written = [place for start, end in _visible_parts(self.written) for place in range(start, end)]
        kept = "".join(self.written[place] for place in written)
        places: list[int] = []
        done = 0
        for marks in (*_MARKS.finditer(kept), None):
            end = len(kept) if marks is None else marks.start()
            for piece in _PIECES.finditer(kept, done, end):
                composed = _composed(piece[0])
                same = len(composed) == len(piece[0])
                places += (written[piece.start() + (number if same else 0)] for number in range(len(composed)))
            done = len(kept) if marks is None else marks.end()
        return places


def split(text: str) -> list[str]:
    """Return the words of a text and the characters between them."""
    tokens: list[str] = _TOKENS.findall(text)
    return tokens


def lowered(text: str) -> str:
    """Return a text in lower case, of the same length: letters that would become two characters stay as they are."""
    changed = text.lower()
    if len(changed) == len(text):
        return changed
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
