"""Tests of counting characters as users see them, with special rules for links and domains (contract, behaviours section 8)."""

from typing import Any

import pytest
from hypothesis import given, settings

from social.kernel.text.characters import counted_length, graphemes
from tests.kernel.text.strategies import texts
from tests.kernel.text.support import POSTS


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("hello", 5),
        ("a\nb", 3),
        ("a\r\nb", 3),
        ("é\r\n", 2),
        ("привет", 6),
        ("e\u0301", 1),
        ("👨\u200d👩\u200d👧\u200d👦", 1),
        ("🏳️\u200d🌈🏴\u200d☠️", 2),
        ("🇩🇪", 1),
        ("🇩🇪🇫🇷🇮🇹", 3),
        ("🇩🇪🇫", 2),
        ("🇩a🇪", 3),
        ("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", 1),
        ("👍🏽1️⃣", 2),
        ("क्षि", 1),
        ("नमस्ते", 3),
        ("ที่นี่", 2),
        ("한국", 2),
        ("\u1112\u1161\u11ab", 1),
        ("日本語", 3),
        ("שָׁלוֹם", 4),
        ("z̷̢͝a̸̡l̵̨g̴̡o̶̧", 5),
    ],
)
def test_characters_are_counted_as_people_see_them(text: str, count: int) -> None:
    assert graphemes(text) == count


@pytest.mark.parametrize("post", POSTS, ids=[post["language"] for post in POSTS])
def test_posts_in_every_script_are_counted(post: dict[str, Any]) -> None:
    assert counted_length(post["text"]) == post["length"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("a" * 476 + " http://" + "b" * 30 + ".com/example", 500),
        ("a" * 493 + " @alice@" + "b" * 30 + ".com", 500),
        ("http://a.com", 23),
        ("https://example.com/" + "a" * 300, 23),
        ("https://example.com.", 24),
        ("(https://example.com)", 25),
        ("example.com", 11),
        ("https://example", 15),
        ("gemini://a.org/x", 16),
        ("@alice", 6),
        ("@alice@localhost:8001!", 7),
        ("a@b.example", 11),
        ("#tag :blob:", 11),
    ],
)
def test_a_link_counts_as_23_characters_and_a_mention_as_its_username(text: str, count: int) -> None:
    assert counted_length(text) == count


def test_the_content_warning_is_counted_in_full() -> None:
    assert counted_length("b" * 251, "a" * 250) == 501
    assert counted_length("https://example.com/aaaaaaaaaaaa", "https://a.com @a@b.com") == 22 + 23
    assert counted_length("", "👍🏽") == 1


def test_long_domains_and_addresses_are_counted_in_full() -> None:
    assert counted_length("@a@" + "b" * 10_000) > 9_000
    assert counted_length("https://example.com/" + "b" * 10_000) > 9_000


@settings(max_examples=100, deadline=None)
@given(texts)
def test_the_counted_length_is_at_least_that_of_the_parts(text: str) -> None:
    assert graphemes(text) <= len(text)
    assert graphemes(text + "\n" + text) == 2 * graphemes(text) + 1
    assert counted_length(text + "\n.") == counted_length(text) + 2
