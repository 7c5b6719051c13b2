"""Tests of comparing texts as users see them, in time proportional to their length (security rows 67 and 74)."""

import time

import pytest

from social.kernel.text.searching import TEXT_LIMIT, Text, comparable


@pytest.mark.parametrize(
    "written",
    [
        "vi\u200bag\u00adra",
        "v\u2060i\ufeffa\u034fg\u180er\U000e0041a",
        "v\x01i\x1fa\x7fg\x9fr\ufff9a\ufffc",
        "\x1c" * (TEXT_LIMIT + 1) + "viagra",
        "ｖｉａｇｒａ",
        "𝓿𝓲𝓪𝓰𝓻𝓪",
        "VIAGRA",
        "\u200b" * (TEXT_LIMIT + 1) + "viagra",
        " \u200b" * (TEXT_LIMIT + 1) + "viagra",
        "\u3164\n" * (TEXT_LIMIT + 1) + "viagra",
    ],
)
def test_row_74_a_word_is_found_despite_invisible_characters(written: str) -> None:
    text = Text(written)
    assert text.lowered.strip() == "viagra"
    start = text.lowered.index("viagra")
    assert comparable(text.part(start, start + 6)) == "viagra"


@pytest.mark.parametrize(
    ("written", "looked_for", "found"),
    [
        ("Hello  W\u200bor\u00adld, all", "world", "W\u200bor\u00adld"),
        ("Cafe\u0301 au lait", "caf\u00e9", "Cafe\u0301"),
        ("I \u2764\ufe0f you", "\u2764\ufe0f you", "\u2764\ufe0f you"),
        ("wait\u2026 what", "wait...", "wait\u2026"),
        ("ﾊﾞｰ here", "バー", "ﾊﾞｰ"),
        ("a\n\nb", "a b", "a\n\nb"),
    ],
)
def test_a_match_is_returned_as_written(written: str, looked_for: str, found: str) -> None:
    text, wanted = Text(written), comparable(looked_for)
    start = text.lowered.index(wanted)
    assert text.part(start, start + len(wanted)) == found


@pytest.mark.parametrize(
    "written",
    ["a" + "\u0301\u0323" * 50_000, "a\u0301\u200b" * 30_000, "\ufdfa" * 90_000, "\u3316" * 90_000, "\u200b " * 50_000],
    ids=["marks", "marks apart", "ligatures", "squares", "blanks"],
)
def test_row_67_preparing_a_text_takes_time_proportional_to_its_searched_part(written: str) -> None:
    began = time.process_time()
    text = Text(written)
    assert len(text.lowered) <= 6 * TEXT_LIMIT
    assert time.process_time() - began < 0.2
