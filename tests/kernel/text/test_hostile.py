"""Tests that parsing any text takes time linear in its length (security rows 31 to 34).

The limits are processor times. Each limit is a few times as long as the work takes on a slow machine; quadratic work would
exceed the limit by a factor of a hundred. Only the sanitiser's limit of 50 ms is a requirement.
"""

import pytest

from social.kernel.text.characters import counted_length, graphemes
from social.kernel.text.markup import plain
from social.kernel.text.names import normalise_domain, normalise_hashtag
from social.kernel.text.sanitize import MAX_BYTES, MAX_TAGS, sanitize
from social.kernel.text.scan import scan
from social.kernel.text.to_html import to_html
from tests.kernel.text.support import assert_harmless, takes_at_most

KB_100 = 100_000
MB = 1_000_000


def most_tags(piece: str) -> str:
    return piece * ((MAX_TAGS - 60) // piece.count("<"))


def filled(piece: str, length: int = KB_100) -> str:
    return piece * (length // len(piece))


TEXTS = {
    "at signs": filled("@"),
    "mentions": filled("@a "),
    "mentions without spaces": filled("@a@a"),
    "mentions with domains": filled("@a@b.c "),
    "endless domain": "@a@" + filled("b."),
    "endless domain of dashes": "@a@b" + filled("-"),
    "hash signs": filled("#"),
    "numbers": filled(" #1"),
    "endless number": "#" + filled("1"),
    "endless joints": "#a" + filled("\u200c"),
    "hashtags": filled("#é "),
    "colons": filled(":"),
    "open shortcodes": filled(":aa"),
    "shortcodes": filled(":aa: "),
    "schemes": filled("http://"),
    "hosts without end": "https://" + filled("a."),
    "dashes": "https://a" + filled("-"),
    "labels": filled("https://a-"),
    "links": filled("https://a.bc "),
    "endless path": "https://a.bc/" + filled("x"),
    "endless dots": "https://a.bc/" + filled("."),
    "links in links": filled("https://a.bc/"),
    "open parentheses": filled("https://a.bc/("),
    "deep parentheses": "https://a.bc/" + filled("("),
    "nested parentheses": filled("https://a.bc/((a)"),
    "half-open nests": "https://a.bc/" + filled("((x)"),
    "empty parentheses": "https://a.bc/" + filled("()"),
    "closing parentheses": filled("https://a.bc/)"),
    "stops": filled("https://a.bc/（"),
    "words after hosts": filled("https://a.comで/"),
    "ports": filled("https://a.com:1"),
    "endless port": "https://a.com:" + filled("9"),
    "user names": filled("https://a.com:1@"),
    "brackets": filled("http://["),
    "addresses": filled("http://[::1]"),
    "xmpp": filled("xmpp:a@"),
    "endless xmpp": "xmpp:" + filled("a."),
    "magnets": filled("magnet:?"),
    "keys": filled("ipfs://a."),
    "spaces": filled(" "),
    "lines": filled("\n"),
    "lines of spaces": filled("\n" + " " * 50),
    "spaces before lines": filled(" ") + "\nx",
    "quotes": filled("\"'&<>"),
    "marks": "a" + filled("\u0301"),
    "regional indicators": filled("🇩"),
    "families": filled("👨\u200d"),
    "conjuncts": filled("क्"),
    "jamo": filled("ᄀ"),
    "prepended": filled("\u0600"),
    "accents": filled("e\u0301"),
}


def is_read_in_linear_time(text: str, size: int) -> None:
    """Check that a text is processed within a time proportional to its size."""
    tokens = scan(text)
    assert "".join(token.raw for token in tokens) == text
    assert takes_at_most(size / 200, lambda: scan(text))
    assert takes_at_most(size / 200, lambda: counted_length(text))
    assert takes_at_most(size / 400, lambda: graphemes(text))
    assert takes_at_most(size / 200, lambda: to_html(tokens, mentions={}, hashtag_url=str))


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_25_kb_is_scanned_counted_and_rendered_in_linear_time(name: str) -> None:
    # Both ends vary, because some texts are slow to parse only with a certain first or last character.
    text = TEXTS[name]
    is_read_in_linear_time(text[: KB_100 // 8] + text[-KB_100 // 8 :], KB_100 // 4)


@pytest.mark.verify
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_100_kb_is_scanned_counted_and_rendered_in_linear_time(name: str) -> None:
    is_read_in_linear_time(TEXTS[name], KB_100)


@pytest.mark.parametrize("name", ["a" * KB_100, "u" + "\u0304" * KB_100, "\u0300" * KB_100, "é❤" * KB_100])
def test_an_endless_name_is_normalised_in_linear_time(name: str) -> None:
    assert takes_at_most(250, lambda: normalise_hashtag(name))
    assert takes_at_most(50, lambda: normalise_domain(name))
    assert takes_at_most(50, lambda: normalise_domain(name[:1000]))


SOUPS = {
    "boxes of 1 MB": filled("<div>", MB),
    "bold of 1 MB": filled("<b>", MB),
    "boxes and words of 1 MB": filled("<div>x", MB),
    "references of 1 MB": filled("&amp;", MB),
    "angles of 1 MB": filled("<", MB),
    "one attribute of 1 MB": '<p class="' + filled("mention ", MB) + '">x</p>',
    "one picture of 1 MB": '<img src="data:' + filled("x", MB) + '">x',
    "bold": filled("<b>"),
    "bold of many kinds": "".join(f"<b x={number}>" for number in range(MAX_TAGS)),
    "bold over paragraphs": "<b>" * 60 + most_tags("<p>x"),
    "spans over paragraphs": "<span>" * 49 + most_tags("<p>x"),
    "nested quotes": most_tags("<blockquote>"),
    "nested lists": most_tags("<ul><li>"),
    "nested ruby": most_tags("<ruby><rt>"),
    "nested tables": most_tags("<table><tr><td>"),
    "headings": most_tags("<h1>"),
    "headings and paragraphs": most_tags("<h1><p>"),
    "links": most_tags("<a href=http://a.bc>x</a>"),
    "open links": most_tags("<a href=http://a.bc>"),
    "too many links": filled("<a href=http://a.bc>"),
    "too many quotes": filled("<blockquote>"),
    "too many lists": filled("<ul><li>"),
    "many attributes": "<a " + " ".join(f"a{number}" for number in range(15_000)) + ">x",
    "many classes": '<p class="' + filled("h-x ") + '">x',
    "open tags": filled("<a "),
    "open attributes": filled('<a b="'),
    "open quotes": filled("<a b='\""),
    "end tags": filled("</p>"),
    "open end tags": filled("</"),
    "declarations": filled("<!"),
    "comments": filled("<!--"),
    "scripts": filled("<script>"),
    "closed scripts": filled("<script></script>"),
    "formulas": filled("<math>"),
    "annotations": "<math>" + filled("<annotation encoding=application/x-tex>"),
    "ampersands": filled("&"),
    "hard spaces": filled("\xa0x"),
    "spaces": filled(" "),
    "lines": filled(" \n"),
    "line breaks": filled("<br>"),
    "ten thousand emoji": filled("👨‍👩‍👧"),
}


@pytest.mark.parametrize("name", SOUPS)
def test_hostile_html_is_sanitised_within_50_milliseconds(name: str) -> None:
    soup = SOUPS[name]
    clean = sanitize(soup)
    assert_harmless(clean)
    assert len(clean.encode()) <= MAX_BYTES
    assert sanitize(clean) == clean
    assert takes_at_most(50, lambda: sanitize(soup))


@pytest.mark.parametrize("name", SOUPS)
def test_hostile_html_is_stripped_in_linear_time(name: str) -> None:
    soup = SOUPS[name]
    assert takes_at_most(250 + len(soup) / 500, lambda: plain(soup))


@pytest.mark.parametrize("size", ["<p>word</p>", "<b>x</b> "])
def test_the_words_of_html_beyond_the_limits_are_kept(size: str) -> None:
    clean = sanitize(filled(size, MB))
    assert len(clean) > 5_000
    assert clean.startswith("<p>word</p>" if "word" in size else "<p>x x x")
