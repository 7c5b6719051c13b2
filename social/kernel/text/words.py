"""Cuts a text into the words that full-text search compares, in any script.

Words follow Unicode's rules (UAX 29, section 4.1, rules WB4 to WB13), ignoring case, width and accents: letters, digits, their
marks and underscores, with points, apostrophes and the like between two letters or two digits. Underscores around a word do not
count. The parts between such points are found too: `example` in `docs.example.org`.

Scripts without spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are cut into overlapping pairs of
characters, as is Korean, whose particles are joined to words. The last character of a run is also a word by itself, so that a
search for a single character finds every word that begins with it.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

import regex

WORDS_LIMIT: Final = 10_000  # number of words of a text that are indexed: PostgreSQL stores no positions after 16,383

LETTERS: Final = 64  # number of characters at which longer words are cut

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
# The same patterns for texts in ASCII, several times as fast.
_ASCII_JOINTS: Final = "(?<=[a-z])[.:'](?=[a-z])|(?<=[0-9])[.,;'](?=[0-9])"
_ASCII: Final = re.compile(rf"(?P<word>[a-z0-9_]+(?:(?:{_ASCII_JOINTS})[a-z0-9_]+)*)(?P<paired>(?!))?")
_ASCII_JOINT: Final = re.compile(_ASCII_JOINTS)
_LOW_LINES: Final = "_\u203f\u2040\u2054"
# Format characters and joiners, which only change how other characters are displayed (WB4): a word is the same without them.
_INVISIBLE: Final = regex.compile(r"[\p{WB=Format}\u200c\u200d]")
# Accents of Latin, Greek and Cyrillic letters, points of Hebrew, vowel signs of Arabic and its lengthening stroke. Marks of
# other scripts are parts of their letters.
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")


class Word(NamedTuple):
    """Word at a position, counted from 1; in scripts that are cut into pairs every character counts.

    `begins`: a single character of a query, which matches every pair that begins with it.
    """

    text: str
    position: int
    begins: bool = False


def fold(text: str) -> str:
    """Return a text in the form for comparison: one form of every character, ignoring case, width and accents."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", folded)))


def words(text: str) -> Iterator[Word]:
    """Return the first WORDS_LIMIT words of a text, for the search index."""
    return islice(_words(text, in_query=False), WORDS_LIMIT)


def query_words(text: str) -> Iterator[Word]:
    """Return the words of a query. A text that contains the query has these words at the same distances from each other."""
    return islice(_words(text, in_query=True), WORDS_LIMIT)


def _words(text: str, *, in_query: bool) -> Iterator[Word]:
    folded = fold(text)
    runs, joint = (_ASCII, _ASCII_JOINT) if folded.isascii() else (_RUNS, _JOINT)
    position = 1
    for found in runs.finditer(folded):
        run = found["paired"]
        if run is None:
            whole = found["word"].strip(_LOW_LINES)[:LETTERS]
            if whole:
                parts = [] if in_query else joint.split(whole)
                for part in dict.fromkeys([whole, *(parts if len(parts) > 1 else [])]):
                    # Every apostrophe is replaced by U+2019, which needs no quoting in a lexeme.
                    yield Word(part.replace("'", "\u2019"), position)
                position += 1
            continue
        for place in range(len(run)):
            pair = run[place : place + 2]
            # In a query, the pair before the last character contains it already.
            if len(pair) == 2 or not in_query or len(run) == 1:
                yield Word(pair, position + place, begins=in_query and len(pair) == 1)
        position += len(run)
