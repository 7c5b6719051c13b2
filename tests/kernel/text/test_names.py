"""Tests of the normalised forms of typed text, hashtags and domains (contract, behaviours sections 1 and 8)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from social.kernel.text.names import (
    clean_input,
    display_domain,
    display_hashtag,
    is_hashtag,
    is_host_name,
    normalise_domain,
    normalise_hashtag,
)


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("a\r\nb\rc\nd", "a\nb\nc\nd"),
        ("a\0b", "ab"),
        ("a\ud83db\udc00c", "abc"),
        ("\ud83d\ude00", "😀"),
        ("👨\u200d👩 نرم\u200cافزار ❤\ufe0f \u202e\t", "👨\u200d👩 نرم\u200cافزار ❤\ufe0f \u202e\t"),
        ("", ""),
    ],
)
def test_characters_that_no_database_accepts_are_removed_from_typed_text(typed: str, kept: str) -> None:
    assert clean_input(typed) == kept


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=[])))
def test_cleaned_text_can_be_encoded_and_cleaning_is_idempotent(typed: str) -> None:
    kept = clean_input(typed)
    assert kept.encode().decode() == kept
    assert clean_input(kept) == kept


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("HelloWorld", "helloworld"),
        ("#hello_world", "hello_world"),
        ("＃ｆｏｏ", "foo"),
        ("hello world", "helloworld"),
        (".abcdef123", "abcdef123"),
        ("Hello❤️World", "helloworld"),
        ("Crème_Brûlée", "creme_brulee"),
        ("Łódź", "lodz"),
        ("Z\u0301\u0304u\u0304\u0304", "zu"),
        ("İstanbul", "istanbul"),
        ("Straße", "straße"),
        ("ⅳ", "iv"),
        ("Ⓐ", "a"),
        ("ＡｂＣやゆよ", "abcやゆよ"),
        ("ﾊﾝｶｸ", "ハンカク"),
        ("Ёлка", "ёлка"),
        ("Й", "й"),
        ("नमस्ते", "नमस्ते"),
        ("Ελληνικά", "ελληνικά"),
        ("ぼっち・ざ・ろっく", "ぼっち・ざ・ろっく"),
        ("نرم\u200cافزار", "نرم\u200cافزار"),
        ("", ""),
    ],
)
def test_width_case_and_latin_accents_do_not_distinguish_hashtags(written: str, name: str) -> None:
    assert normalise_hashtag(written) == name


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_normalising_hashtags_is_idempotent(written: str) -> None:
    assert normalise_hashtag(normalise_hashtag(written)) == normalise_hashtag(written)


def test_hashtags_are_displayed_as_written() -> None:
    assert display_hashtag("#HelloWörld") == "HelloWörld"
    assert display_hashtag("Hello❤️World") == "HelloWorld"


@pytest.mark.parametrize("name", ["a", "ａｅｓｔｈｅｔｉｃ", "3d", "_a", "a_", "a·b", "नमस्ते", "12_3", "1·2"])
def test_valid_hashtags_are_accepted(name: str) -> None:
    assert is_hashtag(name)


@pytest.mark.parametrize("name", ["", "1", "_", "1_", "_1", "1·", "#a", "a b", ".a", "·a", "a·", "a-b", "a\n", "❤️"])
def test_invalid_hashtags_are_refused(name: str) -> None:
    assert not is_hashtag(name)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Example.COM", "example.com"),
        ("example.com.", "example.com"),
        (" example.com ", "example.com"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("XN--Bcher-KVA.example", "xn--bcher-kva.example"),
        ("пример.рф", "xn--e1afmkfd.xn--p1ai"),
        ("例え。ｊｐ", "xn--r8jz45g.jp"),
        ("مثال.شبكة", "xn--mgbh0fb.xn--ngbc5azd"),
        ("उदाहरण.भारत", "xn--p1b6ci4b4b3a.xn--h2brj9c"),
        ("faß.de", "xn--fa-hia.de"),
        ("I❤.ws", "xn--i-7iq.ws"),
        ("i❤\ufe0f.ws", "xn--i-7iq.ws"),
        ("XN--I-7IQ.ws:443", "xn--i-7iq.ws:443"),
        ("🧡🦊.ws", "xn--9s9hnf.ws"),
        ("ü-🏳.例え", "xn----dha02349a.xn--r8jz45g"),
        ("localhost:8001", "localhost:8001"),
        ("LOCALHOST", "localhost"),
        ("127.0.0.1:8001", "127.0.0.1:8001"),
        ("[::1]:8001", "[::1]:8001"),
        ("[0:0::1]", "[::1]"),
        ("a" * 63 + ".example", "a" * 63 + ".example"),
    ],
)
def test_domains_have_one_normalised_form(written: str, kept: str) -> None:
    assert normalise_domain(written) == kept
    assert normalise_domain(kept) == kept


def test_ip_addresses_are_not_host_names() -> None:
    assert all(map(is_host_name, ("example.com", "localhost:8001", "5.example", "xn--p1ai.xn--p1ai")))
    assert not any(map(is_host_name, ("127.0.0.1", "127.0.0.1:8001", "[::1]", "[::1]:8001", "5", "example.5", "5:80")))


@pytest.mark.parametrize(
    "written",
    [
        *("", ".", "..", "a..b", ".a", "-a.b", "a-.b", "exa_mple.com", "a b.com", "a/b.com", "a@b.com", "≠.com"),
        *("-❤.ws", "❤-.ws", "xn--❤.ws", "a_❤.ws", "א❤.ws", "👨\u200d👩.ws", "❤" * 60 + ".ws"),
        *("xn--" + "❤\ufe0f".encode("punycode").decode() + ".ws",),
        *("xn--a.com", "xn--\u00fc.com", "a" * 64 + ".com", "a." * 127 + "com", "ü" * 2000, "a\u200bb\u202e.com"),
        *(
            "a.com:0",
            "a.com:65536",
            "a.com:x",
            "a.com:",
            "a.com:١",
            "a.com:80:80",
            "[::1",
            "[::1]x",
            "[::1]:0",
            "[::g]",
        ),
        *("https://a.com", "a.com/", "a.com?x", "a.com#x", "\ud800.com"),
    ],
)
def test_text_that_cannot_be_a_domain_becomes_none(written: str) -> None:
    assert normalise_domain(written) is None


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=20))
def test_a_normalised_domain_is_lower_case_ascii_and_does_not_change_again(written: str) -> None:
    kept = normalise_domain(written)
    if kept is not None:
        assert kept.isascii()
        assert kept == kept.lower()
        assert normalise_domain(kept) == kept


@pytest.mark.parametrize(
    ("kept", "shown"),
    [
        ("xn--bcher-kva.example", "bücher.example"),
        ("xn--bcher-kva.example:8001", "bücher.example:8001"),
        ("example.com", "example.com"),
        ("xn--zzzzzzzzz999.example", "xn--zzzzzzzzz999.example"),
    ],
)
def test_domains_are_displayed_in_unicode(kept: str, shown: str) -> None:
    assert display_domain(kept) == shown
