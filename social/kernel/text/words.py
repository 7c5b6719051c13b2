"""How a text is cut into the words that full-text search compares, in any script.

A word is a run of letters, digits and their marks, without regard to case, width and accents. Scripts that write no spaces
between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and Korean, whose particles are joined to words, are cut into
overlapping pairs of characters; the last character of a run stands alone, so that a single one is found by the beginning of
a pair.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple

import regex

MOST: Final = 10_000
"""So many words of a text are looked at: PostgreSQL keeps no positions behind 16,383."""

LETTERS: Final = 64
"""Longer words are cut."""

_PAIRED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_RUNS: Final = regex.compile(rf"(?V1)(?P<paired>[{_PAIRED}]+)|(?P<word>[[\p{{L}}\p{{N}}\p{{M}}]--[{_PAIRED}]]+)")
_ASCII: Final = re.compile(r"[a-z0-9]+")
# Accents of Latin, Greek and Cyrillic letters, points of Hebrew, vowel signs of Arabic and its lengthening stroke. Marks of
# other scripts are parts of their letters.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")


class Word(NamedTuple):
    """A word at a position, counted from 1; of a text in pairs every character counts.

    `begins`: in what is looked for, a single character that fits every pair it begins.
    """

    text: str
    position: int
    begins: bool = False


def fold(text: str) -> str:
    """A text as it is compared: one form of every character, without case, width and accents."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


def words(text: str) -> Iterator[Word]:
    """The words of a text that is to be found, the first MOST of them."""
    return _words(text, wanted=False)


def wanted_words(text: str) -> Iterator[Word]:
    """The words of what is looked for: they stand in a text that holds it, at the same distances from each other."""
    return _words(text, wanted=True)


def _words(text: str, *, wanted: bool) -> Iterator[Word]:
    folded = fold(text)
    position = 1
    if folded.isascii():
        for found in _ASCII.finditer(folded):
            if position > MOST:
                return
            yield Word(found[0][:LETTERS], position)
            position += 1
        return
    for found in _RUNS.finditer(folded):
        if position > MOST:
            return
        if found["word"] is not None:
            yield Word(found["word"][:LETTERS], position)
            position += 1
            continue
        run = found["paired"]
        for place in range(len(run)):
            pair = run[place : place + 2]
            # The last one alone says nothing that the pair before it does not say.
            if len(pair) == 2 or not wanted or len(run) == 1:
                yield Word(pair, position + place, begins=wanted and len(pair) == 1)
        position += len(run)
