"""Cuts a text into the words that full-text search compares, in any script.

A word is what Unicode takes for one (UAX 29, section 4.1, rules WB4 to WB13), without regard to case, width and accents:
letters, digits, their marks and low lines, with points, apostrophes and the like between two letters or two digits. Low
lines around a word do not count. What stands between such points is found by itself too: `example` in `docs.example.org`.

Scripts that write no spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and Korean, whose particles are
joined to words, are cut into overlapping pairs of characters; the last character of a run stands alone, so that a single
one is found by the beginning of a pair.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import regex

WORDS_LIMIT: Final = 10_000
"""Number of words of a text that are looked at: PostgreSQL keeps no positions behind 16,383."""

LETTERS: Final = 64
"""Longer words are cut."""

_PAIRED: Final = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_LETTER: Final = rf"[[\p{{L}}\p{{M}}\p{{Nl}}\p{{No}}]--[{_PAIRED}]]"
_WORD_CHARACTER: Final = rf"[[\p{{L}}\p{{N}}\p{{M}}\p{{Pc}}]--[{_PAIRED}]]"
_COMMON_JOINTS: Final = r"\p{WB=MidNumLet}\p{WB=Single_Quote}"
_JOINTS: Final = (
    rf"(?<={_LETTER})[{_COMMON_JOINTS}\p{{WB=MidLetter}}](?={_LETTER})"
    rf"|(?<=\p{{Nd}})[{_COMMON_JOINTS}\p{{WB=MidNum}}](?=\p{{Nd}})"
    r'|(?<=\p{WB=Hebrew_Letter})"(?=\p{WB=Hebrew_Letter})'
)
_RUNS: Final = regex.compile(
    rf"(?V1)(?P<paired>[{_PAIRED}]+)|(?P<word>{_WORD_CHARACTER}+(?:(?:{_JOINTS}){_WORD_CHARACTER}+)*)"
)
_JOINT: Final = regex.compile(rf"(?V1){_JOINTS}")
# The same for what is nothing but ASCII, several times as fast.
_ASCII_JOINTS: Final = "(?<=[a-z])[.:'](?=[a-z])|(?<=[0-9])[.,;'](?=[0-9])"
_ASCII: Final = re.compile(rf"(?P<word>[a-z0-9_]+(?:(?:{_ASCII_JOINTS})[a-z0-9_]+)*)(?P<paired>(?!))?")
_ASCII_JOINT: Final = re.compile(_ASCII_JOINTS)
_LOW_LINES: Final = "_\u203f\u2040\u2054"
# Characters that only say how others are shown, joiners too (WB4): a word is the same with and without them.
_INVISIBLE: Final = regex.compile(r"[\p{WB=Format}\u200c\u200d]")
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
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


def words(text: str) -> Iterator[Word]:
    """The words of a text that is to be found, the first WORDS_LIMIT of them."""
    return islice(_words(text, wanted=False), WORDS_LIMIT)


def wanted_words(text: str) -> Iterator[Word]:
    """The words of what is looked for: they stand in a text that holds it, at the same distances from each other."""
    return islice(_words(text, wanted=True), WORDS_LIMIT)


def _words(text: str, *, wanted: bool) -> Iterator[Word]:
    folded = fold(text)
    runs, joint = (_ASCII, _ASCII_JOINT) if folded.isascii() else (_RUNS, _JOINT)
    position = 1
    for found in runs.finditer(folded):
        run = found["paired"]
        if run is None:
            whole = found["word"].strip(_LOW_LINES)[:LETTERS]
            if whole:
                parts = [] if wanted else joint.split(whole)
                for part in dict.fromkeys([whole, *(parts if len(parts) > 1 else [])]):
                    # One sign stands for all apostrophes, and it is none that a lexeme would have to be quoted for.
                    yield Word(part.replace("'", "\u2019"), position)
                position += 1
            continue
        for place in range(len(run)):
            pair = run[place : place + 2]
            # The last one alone says nothing that the pair before it does not say.
            if len(pair) == 2 or not wanted or len(run) == 1:
                yield Word(pair, position + place, begins=wanted and len(pair) == 1)
        position += len(run)
