"""Promises about what a filter finds in a text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from statuses.policies.filters import ActiveFilter, Keyword, Text, is_word, match


def _found(text: str, keyword: str, *, whole_word: bool = True) -> str | None:
    place = Text(text).find(Keyword(keyword, whole_word))
    return None if place is None else text[place[0] : place[1]]


@pytest.mark.parametrize(
    ("text", "keyword", "found"),
    [
        ("The rain in Spain", "rain", "rain"),
        ("The train", "rain", None),
        ("The rains", "rain", None),
        ("brainstorm, RAIN!", "rain", "RAIN"),
        ("rain_coat", "rain", None),
        ("Über alles", "über", "Über"),
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
        ("two   words", "two words", None),
        ("two words", "Two Words", "two words"),
        ("x", "", None),
    ],
)
def test_whole_words_are_found_in_all_scripts_as_they_are_written(text: str, keyword: str, found: str | None) -> None:
    assert _found(text, keyword) == found


def test_without_whole_word_any_part_is_found() -> None:
    assert _found("A brainstorm", "STORM", whole_word=False) == "storm"


@given(st.text("ab #_é", max_size=30), st.text("ab #_é", min_size=1, max_size=4))
def test_the_first_whole_word_is_the_one_a_plain_search_finds(text: str, keyword: str) -> None:
    def fits(start: int) -> bool:
        end = start + len(keyword)
        before = start > 0 and is_word(text[start - 1]) and is_word(keyword[0])
        after = end < len(text) and is_word(text[end]) and is_word(keyword[-1])
        return text.startswith(keyword, start) and not before and not after

    plain = next((start for start in range(len(text)) if fits(start)), None)
    place = Text(text).find(Keyword(keyword, True))
    assert (None if place is None else place[0]) == plain


def test_the_first_match_in_the_text_counts_and_a_filter_without_posts_has_no_list_of_them() -> None:
    active = ActiveFilter({"id": "1"}, (Keyword("storm", False), Keyword("rain", True)), frozenset())
    (found,) = match([active], Text("Rain and storm"), [5])
    assert found == {"filter": {"id": "1"}, "keyword_matches": ["Rain"], "status_matches": None}
    by_id = ActiveFilter({"id": "1"}, (), frozenset({5, 6}))
    assert match([by_id], Text(""), [5])[0]["status_matches"] == ["5"]
    assert match([by_id], Text("x"), [7]) == []


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("a" * 200_000, "a" * 511 + "b"),
        ("a" * 200_000, "a" * 512),
        ("ab" * 100_000, "ab" * 256),
        ("a " * 100_000, "a " * 255 + "b"),
        ("#a" * 100_000, "#a" * 256),
    ],
)
def test_a_long_text_is_searched_in_time_that_grows_with_its_length_alone(text: str, keyword: str) -> None:
    began = time.thread_time()
    Text(text).find(Keyword(keyword, True))
    assert time.thread_time() - began < 1
