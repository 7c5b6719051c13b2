"""Tests of matching the keywords of filters in texts."""

import random
import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from social.kernel.text.searching import TEXT_LIMIT, Text
from statuses.policies.filters import CHARACTERS_LIMIT, ActiveFilter, Filters, Keyword


def _filters(*keywords: Sequence[Keyword]) -> Filters:
    return Filters([ActiveFilter({"id": str(n)}, tuple(each), frozenset()) for n, each in enumerate(keywords)])


def _found(text: str, keyword: str, *, whole_word: bool = True) -> str | None:
    return _filters([Keyword(keyword, whole_word)]).search(Text(text)).get(0)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _first(text: str, keyword: Keyword) -> int | None:
    """Return the first position of a keyword in a text, according to the rule in the contract."""

    def fits(start: int) -> bool:
        end, wanted = start + len(keyword.text), keyword.text
        before = start > 0 and _is_word(text[start - 1]) and _is_word(wanted[0])
        after = end < len(text) and _is_word(text[end]) and _is_word(wanted[-1])
        return text.startswith(wanted, start) and not (keyword.whole_word and (before or after))

    return next((start for start in range(len(text)) if fits(start)), None)


@pytest.mark.parametrize(
    ("text", "keyword", "found"),
    [
        ("The rain in Spain", "rain", "rain"),
        ("The train", "rain", None),
        ("The rains", "rain", None),
        ("brainstorm, RAIN!", "rain", "RAIN"),
        ("rain_coat", "rain", None),
        ("Über alles", "über", "Über"),
        ("DIE STRASSE RUFT", "straße", "STRASSE"),
        ("die Straße ruft", "STRASSE", "Straße"),
        ("überall", "über", None),
        ("Ёлка стоит", "ёлка", "Ёлка"),
        ("ёлками", "ёлка", None),
        ("हिन्दी में", "हिन्दी", "हिन्दी"),
        ("हिन्दी", "हिन्द", None),
        ("下雨 了", "下雨", "下雨"),
        ("I love #rain", "#rain", "#rain"),
        ("a#rain", "#rain", "#rain"),
        ("#rains", "#rain", None),
        ("C++ and C", "c++", "C++"),
        ("İstanbul rain", "rain", "rain"),
        ("two   words", "two words", "two   words"),
        ("two words", "Two Words", "two words"),
        ("x", "", None),
        # As in Mastodon, spaces at the start or end of a keyword must also be in the text.
        ("a cat sat", "cat ", "cat"),
        ("a cat", "cat ", None),
        ("a cat.", "cat ", None),
        ("wildcat sat", "cat ", None),
        ("a cat sat", " cat", " cat"),
        ("cat", " cat", None),
    ],
)
def test_whole_words_are_found_in_all_scripts_as_they_are_written(text: str, keyword: str, found: str | None) -> None:
    assert _found(text, keyword) == found


def test_without_whole_word_any_part_is_found() -> None:
    assert _found("wildcat sat", "cat ", whole_word=False) == "cat"
    assert _found("a cat", "cat ", whole_word=False) is None
    assert _found("A brainstorm", "STORM", whole_word=False) == "storm"


# `Text` treats several spaces as one, but a plain search does not.
_KEYWORDS = st.lists(st.builds(Keyword, st.text("ab#_é", min_size=1, max_size=4), st.booleans()), max_size=6)


@given(st.text("ab #_é", max_size=30), st.lists(_KEYWORDS, max_size=4))
def test_each_filter_finds_what_a_plain_search_for_each_keyword_finds(text: str, filters: list[list[Keyword]]) -> None:
    expected = {}
    for number, keywords in enumerate(filters):
        places = [(start, order) for order, each in enumerate(keywords) if (start := _first(text, each)) is not None]
        if places:
            start, order = min(places)
            expected[number] = text[start : start + len(keywords[order].text)]
    assert _filters(*filters).search(Text(text)) == expected


def test_the_first_match_in_the_text_counts_and_a_filter_without_posts_has_no_list_of_them() -> None:
    active = ActiveFilter({"id": "1"}, (Keyword("storm", False), Keyword("rain", True)), frozenset())
    text = Text("Rain and storm")
    (found,) = Filters([active]).results(Filters([active]).search(text), [5])
    assert found == {"filter": {"id": "1"}, "keyword_matches": ["Rain"], "status_matches": None}
    by_id = Filters([ActiveFilter({"id": "1"}, (), frozenset({5, 6}))])
    assert by_id.results({}, [5])[0]["status_matches"] == ["5"]
    assert by_id.results({}, [7]) == []


def _steps(filters: Filters, text: str) -> int:
    """Return the number of Python lines that a search executes, plus the characters split into words: the sum is the same on
    every machine.
    """
    steps = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal steps
        steps += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        filters.search(Text(text))
    finally:
        sys.settrace(before)
    return steps


def _in_twenty(keywords: list[Keyword]) -> Filters:
    return _filters(*(keywords[number::20] for number in range(20)))


_CHANCE = random.Random(67)
_HOSTILE = {
    "one letter, whole words": ([Keyword("ab"[n % 2], True) for n in range(2000)], "ba "),
    "words within words": ([Keyword("a ba" + " ba" * (n % 160), True) for n in range(2000)], "ba "),
    "nearly found words": ([Keyword("ba " * (n % 160) + "ba b", True) for n in range(2000)], "ba "),
    "all ends of each other": ([Keyword("a" * (1 + n % 200), False) for n in range(2000)], "a"),
    "nearly found": ([Keyword("a" * (n % 100) + "b" + "a" * (n // 20), False) for n in range(2000)], "a"),
    "by chance": ([Keyword("".join(_CHANCE.choices("ab", k=10)), bool(n % 2)) for n in range(2000)], "abbab aab"),
}


@pytest.mark.parametrize("name", _HOSTILE)
def test_row_67_a_search_takes_time_proportional_to_the_text_whatever_the_filters_hold(name: str) -> None:
    keywords, repeated = _HOSTILE[name]
    text = repeated * (100_000 // len(repeated))
    filters = _in_twenty(keywords)
    filters.search(Text(""))
    # At most a few lines for each character of the text, for each character of a matching keyword, and for each keyword.
    assert _steps(filters, text) < 12 * TEXT_LIMIT + 20 * len(keywords)
    # The keywords are prepared only once for all posts of a page.
    assert _steps(_in_twenty(keywords), "") < 40 * CHARACTERS_LIMIT


def test_row_67_the_keywords_of_one_viewer_are_limited() -> None:
    late = Keyword("late", False)
    many = [Keyword(f"{number:05}" * 100, False) for number in range(2000)]
    assert _filters([*many[:39], late]).search(Text("late")) == {0: "late"}
    assert _filters([*many, late]).search(Text("late")) == {}
    assert _filters([many[0]] * 2000 + [late]).search(Text("late")) == {0: "late"}, "the same keyword counts once"
    assert _found("x" * TEXT_LIMIT + " rain", "rain") is None
