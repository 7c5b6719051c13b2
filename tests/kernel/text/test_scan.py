"""Tests of finding links, mentions, hashtags and emoji in texts (contract, behaviours section 8)."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

from social.kernel.text.names import is_hashtag, normalise_hashtag
from social.kernel.text.scan import MAX_URL_LENGTH, Kind, Token, scan
from tests.kernel.text.strategies import texts
from tests.kernel.text.support import POSTS


def found(text: str, kind: Kind) -> list[str]:
    tokens = scan(text)
    assert "".join(token.raw for token in tokens) == text
    return [token.raw for token in tokens if token.kind is kind]


@pytest.mark.parametrize("post", POSTS, ids=[post["language"] for post in POSTS])
def test_links_mentions_hashtags_and_emoji_are_found_in_every_script(post: dict[str, Any]) -> None:
    tokens = scan(post["text"])
    assert "".join(token.raw for token in tokens) == post["text"]
    assert [[token.kind, token.raw, token.name, token.domain] for token in tokens if token.kind != "text"] == post[
        "tokens"
    ]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("http://google.com", ["http://google.com"]),
        ("see HTTPS://Example.COM/x.", ["HTTPS://Example.COM/x"]),
        ("example.com and www.example.com", []),
        ("https://example", []),
        ("https://localhost http://localhost:8001/@bob/1 http://social.localhost/", []),
        ("http://127.0.0.1:8001/x http://1.2.3/ http://1.2.3.400/ http://2130706433/ http://0x7f.1/", []),
        ("http://[::1]:80/ http://[::ffff:127.0.0.1]/ http://[::g]/", []),
        ("https://a.test/ https://a.example/ https://a.invalid/ https://a.local/ https://a.internal/", []),
        ("https://example.com.test/ https://example.nowhere/x https://example.c/", []),
        (
            "https://host.onion/x https://host.dev/x https://host.MUSEUM",
            ["https://host.onion/x", "https://host.dev/x", "https://host.MUSEUM"],
        ),
        ("https://a.xn--abcdefgh/ https://a.XN--P1AI/", ["https://a.XN--P1AI/"]),
        ("(http://google.com/)", ["http://google.com/"]),
        ("[https://example.com/a]", ["https://example.com/a"]),
        ("[text](https://example.com/a)", ["https://example.com/a"]),
        ("<https://example.com/>", ["https://example.com/"]),
        ('"https://example.com/"', ["https://example.com/"]),
        ("“https://example.com/”x", ["https://example.com/"]),
        ("«https://example.com/»", ["https://example.com/"]),
        ("*https://example.com/a* ~https://example.com/b~", ["https://example.com/a", "https://example.com/b"]),
        ("https://en.wikipedia.org/wiki/Diaspora_(software)", ["https://en.wikipedia.org/wiki/Diaspora_(software)"]),
        ("(https://en.wikipedia.org/wiki/A_(b)_(c(d))).", ["https://en.wikipedia.org/wiki/A_(b)_(c(d))"]),
        ("https://example.com/a(b", ["https://example.com/a"]),
        ("https://example.com/a)b", ["https://example.com/a"]),
        ("https://example.com/?x[]=1&y=#top", ["https://example.com/?x[]=1&y=#top"]),
        ("https://example.com?x=1 https://example.com#top", ["https://example.com?x=1", "https://example.com#top"]),
        ("https://example.com/a...", ["https://example.com/a"]),
        ("https://example.com/a?!…", ["https://example.com/a"]),
        ("https://example.com: yes", ["https://example.com"]),
        (
            "https://example.com:8080/a https://example.com:99999/",
            ["https://example.com:8080/a", "https://example.com"],
        ),
        ("https://example.com/it's’s", ["https://example.com/it's’s"]),
        ("http://example.com/b<del>b</del>", ["http://example.com/b"]),
        ("http://www\\.google\\.com", []),
        ("https://example.com/a\\b", ["https://example.com/a"]),
        ("xhttps://example.com", []),
        ("@https://example.com #https://example.com $https://example.com", []),
        ("見てhttps://example.com", ["https://example.com"]),
        ("ｈttps://example.com httpſ://example.com", []),
        ("https://good.example@evil.example/", []),
        ("https://user:80@evil.example/", []),
        ("https://-a.com https://a..com https://.com", []),
        ("https://a-.com/", []),
        ("https://exa_mple.com/ https://example.com_", ["https://exa_mple.com/", "https://example.com"]),
        ("https://a.vermögensberatung/ü", ["https://a.vermögensberatung/ü"]),
        ("https://xn--e1afmkfd.xn--p1ai/x", ["https://xn--e1afmkfd.xn--p1ai/x"]),
        ("https://nic.みんな/", ["https://nic.みんな/"]),
        ("https://example.comпривет/x", ["https://example.com"]),
        ("https://example.com/　abc", ["https://example.com/"]),
        ("https://example.com/a\u202eb https://example.com/a\u200bb", ["https://example.com/a"] * 2),
        ("\u202ehttps://example.com/", []),
        ("https://example.com/👍🏽", ["https://example.com/👍🏽"]),
        ("https://example.com👍", ["https://example.com"]),
        (
            "https://web.archive.org/web/2024/https://example.com/",
            ["https://web.archive.org/web/2024/https://example.com/"],
        ),
    ],
)
def test_a_link_ends_where_the_sentence_continues(text: str, urls: list[str]) -> None:
    assert found(text, Kind.URL) == urls


@pytest.mark.parametrize(
    ("url", "scheme"),
    [
        ("dat://example.org/x", "dat"),
        ("dweb://example.org", "dweb"),
        ("ipfs://example.org/readme", "ipfs"),
        ("ipns://docs.example.org", "ipns"),
        ("ssb://example.org/sha256/abc=", "ssb"),
        ("gopher://gopher.example.org:70/1/x", "gopher"),
        ("gemini://geminiprotocol.net/docs/", "gemini"),
        ("xmpp:user@instance.com", "xmpp"),
        ("xmpp:muc@instance.com?join", "xmpp"),
        ("xmpp://user@instance.com/room@example.org", "xmpp"),
        ("magnet:?xt=urn:btih:c12fe1c06bba254a9dc9f519b335aa7c1367a88a", "magnet"),
    ],
)
def test_addresses_with_other_allowed_schemes_are_links(url: str, scheme: str) -> None:
    assert scan(f"see {url}, yes")[1] == Token(Kind.URL, url, scheme)


@pytest.mark.parametrize(
    "text",
    [
        *("javascript:alert(1)", "data:text/html,x", "mailto:a@b", "ftp://a.com/", "magnet:?", "xmpp:"),
        *("ipfs://bafybeigdyrzt/readme", "ssb://message/x", "gemini://localhost/", "xmpp:user@host"),
    ],
)
def test_other_schemes_and_hosts_are_not_links(text: str) -> None:
    assert found(text, Kind.URL) == []


def test_an_address_beyond_the_maximum_length_is_not_a_link() -> None:
    longest = "https://example.com/" + "a" * (MAX_URL_LENGTH - 20)
    assert found(longest, Kind.URL) == [longest]
    assert found(longest + "a", Kind.URL) == []


@pytest.mark.parametrize(
    ("text", "accts"),
    [
        ("@alice", ["alice"]),
        ("@Alice_1, @a.b-c. (@d)", ["alice_1", "a.b-c", "d"]),
        ("@alice.", ["alice"]),
        (".@alice: @bob's", ["alice", "bob"]),
        ("@alice@Example.Social!", ["alice@example.social"]),
        (
            "@bob@localhost:8001, @bob@127.0.0.1:8001. @bob@example.com: x",
            ["bob@localhost:8001", "bob@127.0.0.1:8001", "bob@example.com"],
        ),
        ("@bob@example.com:123456", ["bob@example.com"]),
        ("@x@пример.рф @x@BÜCHER.example", ["x@пример.рф", "x@bücher.example"]),
        ("@aliceさん @alice@example.comさん", ["alice", "alice@example.com"]),
        ("@alice@", ["alice"]),
        ("@alice@b@c", ["alice@b"]),
        ("a@b.example x=@alice https://x/@alice é@alice _@alice", []),
        ("@-a @.a @ @@", []),
        ("https://social.example/@alice/1", []),
        ("@" + "a" * 40 + "@" + "b" * 300 + ".com", ["a" * 40]),
    ],
)
def test_a_mention_is_a_name_with_or_without_a_domain(text: str, accts: list[str]) -> None:
    assert [token.acct for token in scan(text) if token.kind is Kind.MENTION] == accts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#foo test\xa0#bar\n#baz\u3000#qux", ["foo", "bar", "baz", "qux"]),
        ("this is ＃ｆｏｏ", ["ｆｏｏ"]),
        ("#3d #l33ts35k #world2016", ["3d", "l33ts35k", "world2016"]),
        ("#_test #test_ #one_two", ["_test", "test_", "one_two"]),
        ("#one·two·three #·one #two·", ["one·two·three", "two"]),
        ("#ぼっち・ざ・ろっく、", ["ぼっち・ざ・ろっく"]),
        ("#نرم\u200cافزار", ["نرم\u200cافزار"]),
        ("#नमस्ते #สวัสดี #Ελληνικά #עברית", ["नमस्ते", "สวัสดี", "Ελληνικά", "עברית"]),
        ("#rubyOnRails! #a.b #c-d #e's", ["rubyOnRails", "a", "c", "e"]),
        ("#\ufc5e #\ufe70a", ["\ufe70a"]),
        ("#12_3 #1·2 #1__ #__1 #1_2 #1·2·", ["12_3", "1·2", "1__", "__1", "1_2", "1·2"]),
        ("#ⅳ #Ⓐ #Ⅻb", ["ⅳ", "Ⓐ", "Ⅻb"]),
        ("#0123456 #1_ #_1 #1· #_ #__ # ## #\ufe0f\u20e3 #\u0301a", []),
        ("a#foo (#foo) /#foo ##foo .#foo", []),
        ("https://en.wikipedia.org/wiki/Ghostbusters_(song)#Lawsuit https://a.example/?x=#c4", []),
    ],
)
def test_a_hashtag_stands_alone_and_contains_a_letter_or_a_joint(text: str, names: list[str]) -> None:
    assert [token.name for token in scan(text) if token.kind is Kind.HASHTAG] == names


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        (":blob_cat: (:ok:) ,:x1:.", ["blob_cat", "ok", "x1"]),
        (":a: :: :é1: :a-b:", []),
        ("a:blob: :blob:a é:blob: :blob::blob: 12:30:45", []),
        ("👍:blob:👍", ["blob"]),
    ],
)
def test_a_shortcode_is_between_colons_and_not_next_to_a_word(text: str, codes: list[str]) -> None:
    assert [token.name for token in scan(text) if token.kind is Kind.EMOJI] == codes


def tokens_keep_the_text(text: str) -> None:
    tokens = scan(text)
    assert "".join(token.raw for token in tokens) == text
    assert all(token.raw for token in tokens)
    assert all(is_hashtag(normalise_hashtag(token.name)) for token in tokens if token.kind is Kind.HASHTAG)
    kinds = [token.kind for token in tokens]
    assert (Kind.TEXT, Kind.TEXT) not in pairwise(kinds)


@settings(max_examples=100, deadline=None)
@given(texts)
def test_the_joined_tokens_equal_the_text(text: str) -> None:
    tokens_keep_the_text(text)


@pytest.mark.verify
@settings(max_examples=5_000, deadline=None)
@given(texts)
def test_the_joined_tokens_equal_the_text_in_many_examples(text: str) -> None:
    tokens_keep_the_text(text)
