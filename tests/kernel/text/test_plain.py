"""Tests of the plain text of HTML, as a reader sees it, and of detecting hidden text (security row 74)."""

import pytest
from hypothesis import given, settings

from social.kernel.text.markup import plain, split_hidden
from social.kernel.text.sanitize import sanitize
from tests.kernel.text.strategies import tag_soups


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("text", "text"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one<br>two<br />three<br/>four</p>", "one\ntwo\nthree\nfour"),
        ("<p>one<br>\ntwo</p>\n<p>three</p>\n", "one\ntwo\n\nthree"),
        ("one<br><br><br><br>two", "one\n\ntwo"),
        ("<p>one two\n three</p>", "one two three"),
        ("<p>5 &lt; 6 &amp;amp; &quot;7&quot; &#39;8&#x27; &hearts;&nbsp;x</p>", "5 < 6 &amp; \"7\" '8' ♥\xa0x"),
        ("a &lt;b&gt; c", "a <b> c"),
        ("<ul><li>one</li><li>two</li></ul>three", "one\ntwo\n\nthree"),
        ("<blockquote><p>one</p></blockquote>two", "one\n\ntwo"),
        ("<pre>a\n  b\n\n\nc</pre>", "a\n  b\n\n\nc"),
        ('<a href="https://x"><span class="invisible">https://</span><span>x.example</span></a>', "https://x.example"),
        ("<div>one</div><div>two</div><table><tr><td>a</td><td>b</td></tr></table>", "one\n\ntwo\n\na b"),
        ("a<script>alert(1)</script><style>b{}</style><!-- c -->d", "ad"),
        ('<img alt=">" title="<b>">x', "x"),
        ("x < y <3", "x < y <3"),
        ("one <b", "one"),
        ("שלום<br>مرحبا<br>नमस्ते<br>👨‍👩‍👧", "שלום\nمرحبا\nनमस्ते\n👨‍👩‍👧"),
    ],
)
def test_tags_are_removed_and_words_stay(html: str, text: str) -> None:
    assert plain(html) == text


@settings(max_examples=100, deadline=None)
@given(tag_soups)
def test_the_text_of_any_html_has_no_two_empty_lines_in_a_row(soup: str) -> None:
    assert plain(soup) == plain(soup).strip()
    if "<pre" not in soup.lower() and "&#10" not in soup and "&#13" not in soup:
        assert "\n\n\n" not in plain(sanitize(soup))


_LONG = (
    '<p>See <a href="https://example.com/a/long/path"><span class="invisible">https://</span>'
    '<span class="ellipsis">example.com/a</span><span class="invisible">/long/path</span></a></p>'
)


@pytest.mark.parametrize(
    ("html", "seen", "addresses"),
    [
        ("<p>via<br>gra</p>", "via\ngra", []),
        ('<p>vi<span class="invisible">zzz</span>agra</p>', "viagra", []),
        ('<p>vi<span class="h-x invisible"><span>a</span>b<br></span>agra</p>', "viagra", []),
        ('vi<p class="invisible">zzz</p>agra', "viagra", []),
        ('vi<a href="https://x.example" class="invisible">zzz</a>agra', "viagra", []),
        ('vi<span class="invisible"><a href="https://x.example">zzz</a></span>agra', "viagra", []),
        ('<span class="invisibles">a</span>', "a", []),
        ("<p>invisible</p>", "invisible", []),
        ("<p>via<rp>zzz</rp>gra</p>", "viagra", []),
        ("<ruby>via<rp>(</rp><rt>one</rt><rp>)</rp>gra</ruby> is", "viagra is\n\none", []),
        ("<ruby>a<rt>via<rp>zzz</rp>gra</rt></ruby>", "a\n\nviagra", []),
        ('<ruby>a<rt>via<span class="invisible">zzz</span>gra</rt></ruby>b', "ab\n\nviagra", []),
        (_LONG, "See example.com/a", ["https://example.com/a/long/path"]),
        (
            '<a href="https://x.example">vi<span class="invisible">zzz</span>agra</a> <a href="https://y.example">y</a>',
            "viagra y",
            ["vizzzagra"],
        ),
    ],
)
def test_row_74_hidden_elements_do_not_divide_words_and_link_addresses_are_complete(
    html: str, seen: str, addresses: list[str]
) -> None:
    assert split_hidden(html) == (seen, addresses)


@settings(max_examples=100, deadline=None)
@given(tag_soups)
def test_html_without_hidden_elements_is_completely_visible(soup: str) -> None:
    if "invisible" not in soup and "<r" not in soup.lower():
        assert split_hidden(soup) == (plain(soup), [])
    seen, _addresses = split_hidden(sanitize(soup))
    assert seen == seen.strip()
