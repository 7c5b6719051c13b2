"""Tests of converting a text to the HTML that clients parse (contract, behaviours section 8; clients.md trap 48)."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from social.kernel.text.markup import plain
from social.kernel.text.sanitize import sanitize
from social.kernel.text.scan import Kind, scan
from social.kernel.text.to_html import MentionTarget, to_html
from tests.kernel.text.strategies import texts
from tests.kernel.text.support import POSTS, assert_harmless

ALICE = MentionTarget("alice", "alice", "https://home.example.org/@alice")
BOB = MentionTarget("Bob", "Bob@far.example.org", "https://far.example.org/users/bob?a=1&b=2")
OTHER_BOB = MentionTarget("bob", "bob", "https://home.example.org/@bob")
MENTIONS = {"alice": ALICE, "bob@far.example.org": BOB, "bob": OTHER_BOB, "alice@home.example.org": ALICE}


def html(text: str, **options: object) -> str:
    return to_html(scan(text), mentions=MENTIONS, hashtag_url=tag_url, **options)


def tag_url(name: str) -> str:
    return f"https://home.example.org/tags/{quote(name)}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("text", "<p>text</p>"),
        ("one\ntwo", "<p>one<br />two</p>"),
        ("one\n\ntwo\n\n\n\nthree", "<p>one</p><p>two</p><p>three</p>"),
        ("one\n \t\ntwo", "<p>one</p><p>two</p>"),
        ("\n\none\n\n", "<p>one</p>"),
        ("one\r\ntwo\r\n\r\nthree", "<p>one<br />two</p><p>three</p>"),
        ("one  \n  two", "<p>one  <br />  two</p>"),
        ("", ""),
        (" \n\u3000\n", ""),
        ("<b>&\"'", "<p>&lt;b&gt;&amp;&quot;&#39;</p>"),
        ('<script>alert("Hello")</script>', "<p>&lt;script&gt;alert(&quot;Hello&quot;)&lt;/script&gt;</p>"),
        (":blob:", "<p>:blob:</p>"),
        ("http://www\\.google\\.com", "<p>http://www\\.google\\.com</p>"),
    ],
)
def test_text_becomes_paragraphs_and_lines_of_escaped_html(text: str, expected: str) -> None:
    assert html(text) == expected


@pytest.mark.parametrize(
    ("url", "prefix", "shown", "rest"),
    [
        ("https://example.com/", "https://", "example.com/", ""),
        ("http://www.example.com/", "http://www.", "example.com/", ""),
        ("https://example.com/" + "a" * 18, "https://", "example.com/" + "a" * 18, ""),
        ("https://example.com/" + "a" * 19, "https://", "example.com/" + "a" * 19, ""),
        ("https://example.com/" + "a" * 20, "https://", "example.com/" + "a" * 18, "aa"),
        ("HTTPS://EXAMPLE.COM/Upper", "", "HTTPS://EXAMPLE.COM/Upper", ""),
        ("magnet:?xt=urn:btih:" + "a" * 20, "", "magnet:?xt=urn:btih:" + "a" * 10, "a" * 10),
        ("https://nic.みんな/", "https://", "nic.みんな/", ""),
        ("gemini://www.example.org/", "", "gemini://www.example.org/", ""),
        ("xmpp:muc@example.org", "xmpp:", "muc@example.org", ""),
    ],
)
def test_a_link_hides_its_scheme_and_the_end_of_a_long_address(url: str, prefix: str, shown: str, rest: str) -> None:
    assert html(url) == (
        f'<p><a href="{url}" target="_blank" rel="nofollow noopener" translate="no">'
        f'<span class="invisible">{prefix}</span><span class="{"ellipsis" if rest else ""}">{shown}</span>'
        f'<span class="invisible">{rest}</span></a></p>'
    )


def test_the_parameters_of_an_address_are_escaped() -> None:
    assert 'href="https://example.com/?utf8=✓&amp;q=it&#39;s"' in html("https://example.com/?utf8=✓&q=it's")


def test_a_mention_is_a_card_with_the_name_only() -> None:
    assert html("@Alice!") == (
        '<p><span class="h-card" translate="no"><a href="https://home.example.org/@alice" class="u-url mention">'
        "@<span>alice</span></a></span>!</p>"
    )
    assert html("@bob@Far.Example.Org") == (
        '<p><span class="h-card" translate="no"><a href="https://far.example.org/users/bob?a=1&amp;b=2"'
        ' class="u-url mention">@<span>Bob</span></a></span></p>'
    )


def test_mentions_of_two_accounts_with_one_name_show_the_domain() -> None:
    both = html("@bob @bob@far.example.org @alice")
    assert "@<span>bob</span>" in both
    assert "@<span>Bob@far.example.org</span>" in both
    assert "@<span>alice</span>" in both


def test_one_account_mentioned_in_two_ways_is_shown_without_a_domain() -> None:
    assert html("@alice @alice@home.example.org").count("@<span>alice</span>") == 2


def test_a_mention_of_an_unknown_account_stays_text() -> None:
    assert html("@nobody @alice@far.example.org") == "<p>@nobody @alice@far.example.org</p>"


def test_a_hashtag_links_to_its_address_and_is_shown_as_written() -> None:
    assert html("＃Café") == (
        '<p><a href="https://home.example.org/tags/Caf%C3%A9" class="mention hashtag" rel="tag">#<span>Café</span></a></p>'
    )
    assert 'href="https://home.example.org/tags/%E3%82%BF%E3%82%B0"' in html("#タグ")


def test_a_profile_field_is_one_line_with_rel_me_and_domains() -> None:
    assert html("https://me.example.org/\n@bob@far.example.org", profile_field=True) == (
        '<a href="https://me.example.org/" target="_blank" rel="nofollow noopener me" translate="no">'
        '<span class="invisible">https://</span><span class="">me.example.org/</span><span class="invisible"></span></a> '
        '<span class="h-card" translate="no"><a href="https://far.example.org/users/bob?a=1&amp;b=2"'
        ' class="u-url mention">@<span>Bob@far.example.org</span></a></span>'
    )


def test_a_quote_has_a_line_for_clients_without_quotes() -> None:
    link = html("https://far.example.org/@bob/1").removeprefix("<p>").removesuffix("</p>")
    line = f'<p class="quote-inline">RE: {link}</p>'
    assert html("yes", quote_url="https://far.example.org/@bob/1") == line + "<p>yes</p>"
    assert html("", quote_url="https://far.example.org/@bob/1") == line
    assert html("see https://far.example.org/@bob/1", quote_url="https://far.example.org/@bob/1").count("RE:") == 0


def test_addresses_cannot_break_out_of_their_attribute() -> None:
    hostile = MentionTarget('x"><script>', 'x"@<y>', 'https://x/"\n\n\' onclick="alert(1)')
    rendered = to_html(scan("@a #b"), mentions={"a": hostile}, hashtag_url=lambda name: 'https://x/"><b>\n\n' + name)
    assert "<script" not in rendered
    assert "<b>" not in rendered
    assert rendered.count("<p>") == 1
    read = assert_harmless(rendered)
    assert [sorted(attributes) for tag, attributes in read.tags if tag == "a"] == [
        ["class", "href"],
        ["class", "href", "rel"],
    ]


@pytest.mark.parametrize("post", POSTS, ids=[post["language"] for post in POSTS])
def test_sanitising_on_another_server_removes_nothing(post: dict[str, Any]) -> None:
    rendered = html(post["text"])
    read = assert_harmless(sanitize(rendered))
    assert "".join(read.data) == "".join(assert_harmless(rendered).data)
    assert len(read.tags) == len(assert_harmless(rendered).tags)


def escapes_everything(text: str, profile_field: bool) -> None:
    tokens = scan(text)
    rendered = to_html(tokens, mentions=MENTIONS, hashtag_url=tag_url, profile_field=profile_field)
    read = assert_harmless(rendered)
    assert {tag for tag, _ in read.tags} <= {"p", "br", "a", "span"}
    links = sum(token.kind in (Kind.URL, Kind.HASHTAG) for token in tokens)
    cards = sum(token.kind is Kind.MENTION and token.acct in MENTIONS for token in tokens)
    assert sum(tag == "a" for tag, _ in read.tags) == links + cards
    assert "\n" not in rendered
    shown = "".join(token.raw for token in tokens if token.kind is not Kind.MENTION)
    kept = plain(rendered)
    assert all(word in "".join(kept.split()) for word in shown.replace("＃", "#").split() if word.isalnum())


@settings(max_examples=100, deadline=None)
@given(texts, st.booleans())
def test_no_text_becomes_markup_and_no_word_is_lost(text: str, profile_field: bool) -> None:
    escapes_everything(text, profile_field)


@pytest.mark.verify
@settings(max_examples=5_000, deadline=None)
@given(texts, st.booleans())
def test_no_text_becomes_markup_and_no_word_is_lost_in_many_examples(text: str, profile_field: bool) -> None:
    escapes_everything(text, profile_field)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), min_size=1), min_size=1))
def test_plain_text_can_be_recovered_from_its_html(paragraphs: list[list[str]]) -> None:
    text = "\n\n".join("\n".join(lines) for lines in paragraphs)
    assert plain(html(text)) == text
