"""Tests of sanitising remote HTML to the tags and addresses of contract, behaviours section 8."""

import re

import nh3
import pytest
from hypothesis import example, given, settings

from social.kernel.text import sanitize as sanitize_module
from social.kernel.text.markup import plain
from social.kernel.text.sanitize import MAX_BYTES, MAX_DEPTH, MAX_TAGS, sanitize
from tests.kernel.text.strategies import tag_soups
from tests.kernel.text.support import ATTACKS, assert_harmless

LINK = 'rel="nofollow noopener" target="_blank"'


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        ("", ""),
        ("text", "text"),
        ("<p>one<br>two</p>", "<p>one<br>two</p>"),
        ("<p>one<br />two<br/></p>", "<p>one<br>two<br></p>"),
        ("<p>Foo</p><ul><li>Foo</li><li>Bar</li></ul>", "<p>Foo</p><ul><li>Foo</li><li>Bar</li></ul>"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>"),
        ('<ol start="3" reversed=""><li value="7">a</li></ol>', '<ol start="3" reversed=""><li value="7">a</li></ol>'),
        ('<ol start="x" type="a"><li value="">a</li></ol>', "<ol><li>a</li></ol>"),
        (
            "<p><ruby>明日 <rp>(</rp><rt>Ashita</rt><rp>)</rp></ruby></p>",
            "<p><ruby>明日 <rp>(</rp><rt>Ashita</rt><rp>)</rp></ruby></p>",
        ),
        ("<p><b>b</b><strong>s</strong><i>i</i><em>e</em><u>u</u></p>",) * 2,
        ("<p><del>d</del><s>s</s><code>c</code></p><pre>p</pre><blockquote>q</blockquote>",) * 2,
        ("<h1>Foo</h1><h6>Bar</h6>", "<p><strong>Foo</strong></p><p><strong>Bar</strong></p>"),
        ("<h2>Foo <p>bar</p></h2>baz", "<p><strong>Foo bar</strong></p>baz"),
        ("<p>a<h3>b</h4>c", "<p>a</p><p><strong>b</strong></p>c"),
        ("<div>one</div><div>two <div>three</div></div>", "one two three"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("<p>one<p>two", "<p>one</p><p>two</p>"),
        ("<b><i>x</b></i>", "<b><i>x</i></b>"),
        ("<p>a<ul><li>b</ul></p>", "<p>a</p><ul><li>b</li></ul>"),
        ("<P CLASS=mention>x</P>", '<p class="mention">x</p>'),
        ("<p>one<br>\ntwo</p>", "<p>one<br>two</p>"),
        ("<pre>one<br>\ntwo</pre>", "<pre>one<br>\ntwo</pre>"),
        ("<pre>\n\n\n\n\n<!-- -->\n  <b>\none</b>\n two</pre>", "<pre>  <b>\none</b>\n two</pre>"),
        ("<ruby>a<rt>b<rp>c<rt>d</ruby>", "<ruby>a<rt>b</rt><rp>c</rp><rt>d</rt></ruby>"),
        ("<ruby><p>x<rt>y</ruby>", "<ruby><p>x</p><rt>y</rt></ruby>"),
        ('<b>a <a href="/x"><b>c</b></a> d</b> e', "<b>a c d</b> e"),
        ('<span class="p-&quot;&gt;&lt;b&gt;">x</span>', '<span class="p-&quot;&gt;&lt;b&gt;">x</span>'),
        ("a&nbsp;b &amp; &lt;c&gt; &quot;d&quot; &#39;e&#39; &hearts;", "a&nbsp;b &amp; &lt;c&gt; \"d\" 'e' ♥"),
        ("x < y <3 & z", "x &lt; y &lt;3 &amp; z"),
        ("a\0b\ud800c\x07d\r\ne&#13;f&#0;", "abcd\ne\nf\ufffd"),
        ("a<img src=x alt=y>b<hr>c", "ab c"),
        ("a<!-- <b> -->b<!doctype html>c<?php x ?>d</>e", "abcde"),
        ("one <a", "one "),
        (
            "<p lang=de>x<span lang='zh-Hant'>y</span><br lang=de></p>",
            '<p lang="de">x<span lang="zh-Hant">y</span><br lang="de"></p>',
        ),
        ('<p lang="x y" dir="rtl" id="a" style="b" data-c="d" title="e">x</p>', "<p>x</p>"),
    ],
)
def test_allowed_html_is_kept_and_other_html_is_replaced(html: str, kept: str) -> None:
    assert sanitize(html) == kept


@pytest.mark.parametrize(
    ("classes", "kept"),
    [
        ("h-card p-name u-url dt-start e-content", "h-card p-name u-url dt-start e-content"),
        ("mention hashtag ellipsis invisible quote-inline", "mention hashtag ellipsis invisible quote-inline"),
        ("modal mentions xh-card h- status__content mention", "mention"),
        ("a b", None),
        ("", None),
    ],
)
def test_only_allowed_classes_are_kept(classes: str, kept: str | None) -> None:
    attribute = f' class="{kept}"' if kept else ""
    assert sanitize(f'<span class="{classes}">x</span>') == f"<span{attribute}>x</span>"
    assert sanitize(f'<ul class="{classes}"><li>x</li></ul>') == "<ul><li>x</li></ul>"


@pytest.mark.parametrize(
    "href",
    [
        *(
            "http://example.com",
            "https://example.com/?a=1#b",
            "HTTPS://EXAMPLE.com",
            "https://例え.jp/パス",
            "https://a.com/b c",
        ),
        *(
            "dat://a",
            "dweb:/a/foo",
            "ipfs://a",
            "ipns://a",
            "ssb://a",
            "gopher://a",
            "xmpp:a@b",
            "magnet:?xt=1",
            "gemini://a",
        ),
    ],
)
def test_links_with_allowed_schemes_stay_and_are_not_followed_by_crawlers(href: str) -> None:
    expected = f'<a href="{href}" class="mention" {LINK}>x</a>'
    assert sanitize(f'<a href="{href}" class="mention b" rel="me opener" target="_top" onclick="y">x</a>') == expected


@pytest.mark.parametrize(
    "href",
    [
        *(
            "javascript:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "file:///etc/passwd",
            "mailto:a@b.example",
            "foo://bar",
        ),
        *(
            "//evil.example",
            "/rel",
            "rel",
            "?a",
            "#b",
            "",
            ".",
            "\\\\evil.example",
            "https:evil.example",
            "https:/evil.example",
        ),
        *(
            "https:\\\\evil.example",
            "https://",
            "https:///x",
            " https://example.com",
            "java\nscript:alert(1)",
            "https://a\n.com",
        ),
        *(
            "https://[x",
            "http://a:99999/",
            "https://%zz/",
            "https://xn--a/",
            "&#106;avascript:alert(1)",
            "\x01javascript:a",
        ),
    ],
)
def test_links_with_other_addresses_become_their_text(href: str) -> None:
    assert sanitize(f'<p>a <a href="{href}"><span class="invisible">b</span> <b>c</b></a> <i>d</i></p>') == (
        "<p>a b c <i>d</i></p>"
    )


def test_a_link_without_an_address_becomes_its_text() -> None:
    assert sanitize("<a>Test</a>") == "Test"
    assert sanitize('<a href="foo://bar">Test&lt;a href="https://example.com"&gt;test&lt;/a&gt;</a>') == (
        'Test&lt;a href="https://example.com"&gt;test&lt;/a&gt;'
    )


@pytest.mark.parametrize(("value", "kept"), [("no", ' translate="no"'), ("yes", ""), ("x", "")])
def test_the_only_value_of_translate_is_no(value: str, kept: str) -> None:
    assert sanitize(f'<span translate="{value}">x</span>') == f"<span{kept}>x</span>"
    assert sanitize(f'<p translate="{value}">x</p>') == "<p>x</p>"


TEX = '<annotation encoding="application/x-tex">x^n &lt; y</annotation>'
PLAIN = '<annotation encoding="text/plain">x to the n</annotation>'
MATH = "<mrow><msup><mi>x</mi><mi>n</mi></msup><mo>&lt;</mo><mi>y</mi></mrow>"


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        (f"<math><semantics>{MATH}{TEX}</semantics></math>", "$x^n &lt; y$"),
        (f'<math display="block"><semantics>{MATH}{TEX}</semantics></math>', "$$x^n &lt; y$$"),
        (f"<math><semantics>{MATH}{PLAIN}</semantics></math>", "x to the n"),
        (f"<math><semantics>{MATH}{PLAIN}{TEX}</semantics></math>", "$x^n &lt; y$"),
        (f"<math>{MATH}</math>", "xn&lt;y"),
        (
            f"<p>Let <math><semantics>{MATH}{TEX}</semantics></math>, then <b>b</b></p>",
            "<p>Let $x^n &lt; y$, then <b>b</b></p>",
        ),
        ("<math><annotation encoding=application/x-tex>&lt;script&gt;</annotation></math>", "$&lt;script&gt;$"),
    ],
)
def test_a_formula_becomes_its_annotation(html: str, kept: str) -> None:
    assert sanitize(html) == kept


@pytest.mark.parametrize("name", ["script", "style", "iframe", "noembed", "noframes", "template"])
def test_scripts_and_frames_are_removed_with_their_content(name: str) -> None:
    assert sanitize(f"a<{name} x=y>alert(1)<b>x</b></{name.upper()} >b<{name}>rest") == "ab"


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_results_in_executable_html(attack: str) -> None:
    for html in (attack, f"<p>{attack}</p>", attack.replace(" ", "/"), attack.replace("'", "\n"), attack.upper()):
        clean = sanitize(html)
        assert_harmless(clean)
        assert sanitize(clean) == clean
        # Parsing the HTML as browsers do and writing it again must not change it; otherwise it could have two meanings.
        everything = nh3.Cleaner(tags=nh3.ALLOWED_TAGS | {"u"}, link_rel=None, attribute_filter=lambda *a: a[2]).clean(
            clean
        )
        assert re.sub(r' (?:class|target|rel|translate|lang)="[^"]*"', "", clean) == re.sub(
            r' (?:class|target|rel|translate|lang)="[^"]*"', "", everything
        )


def stays_clean(soup: str) -> None:
    clean = sanitize(soup)
    assert sanitize(clean) == clean
    assert_harmless(clean)
    assert len(clean.encode()) <= MAX_BYTES


@settings(max_examples=100, deadline=None)
@given(tag_soups)
@example('<a href="https://[x">a<a href="//b">')
@example("<p start=3 reversed=>")
@example("<pre>\n\n<br>\n&#10;")
def test_sanitising_is_idempotent_and_leaves_only_allowed_html(soup: str) -> None:
    stays_clean(soup)


@pytest.mark.verify
@settings(max_examples=10_000, deadline=None)
@given(tag_soups)
def test_sanitising_is_idempotent_and_leaves_only_allowed_html_in_many_examples(soup: str) -> None:
    stays_clean(soup)


def test_html_beyond_the_limits_becomes_its_text_in_paragraphs() -> None:
    article = "<p>One &lt;b&gt;<br>two &amp; <a href='https://a.example'>three</a></p>" * 2_000
    assert len(article) > MAX_BYTES
    clean = sanitize(article)
    assert clean.startswith("<p>One &lt;b&gt;<br>two &amp; three</p><p>One")
    assert 30_000 < len(clean) <= MAX_BYTES
    assert sanitize(clean) == clean
    assert_harmless(clean)


def test_the_limits_are_exact() -> None:
    fits = "<p>" + "a" * (MAX_BYTES - 7) + "</p>"
    assert sanitize(fits) == fits
    assert sanitize("<b>x</b>" * (MAX_TAGS // 2)) == "<b>x</b>" * (MAX_TAGS // 2)
    assert sanitize("<b>x</b>" * (MAX_TAGS // 2 + 1)) == "<p>" + "x" * (MAX_TAGS // 2 + 1) + "</p>"
    too_long = sanitize("<p>" + "é" * MAX_BYTES + "</p>")
    assert len(too_long.encode()) <= MAX_BYTES
    assert "éééé" in too_long


def test_an_escaped_text_that_grows_is_cut_to_fit() -> None:
    for text in ("&amp;" * 20_000, "&" * 100_000, "<" * 1_000_000, "\xa0x" * 40_000, "😀" * 40_000, "a<br>" * 20_000):
        clean = sanitize(text)
        assert 10_000 < len(clean.encode()) <= MAX_BYTES
        assert sanitize(clean) == clean
        assert_harmless(clean)


def test_tags_nested_too_deeply_are_left_out_but_not_their_text() -> None:
    clean = sanitize("<blockquote>" * 200 + "deep <b>down</b>" + "</blockquote>" * 200 + "<p>after</p>")
    assert clean.count("<blockquote>") == MAX_DEPTH
    assert "deep down" in clean
    assert clean.endswith("</blockquote><p>after</p>")
    assert sanitize(clean) == clean


@pytest.mark.parametrize("failure", [RuntimeError("broken"), type("PanicException", (BaseException,), {})()])
def test_html_becomes_its_text_if_the_parser_fails(failure: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def clean(self, html: str) -> str:
            raise failure

    monkeypatch.setattr(sanitize_module, "_CLEANER", Broken())
    assert sanitize("<p>one<br>two &lt;b&gt; <script>x</script></p><p>three</p>") == (
        "<p>one<br>two &lt;b&gt;</p><p>three</p>"
    )


def test_html_becomes_its_text_if_the_output_keeps_changing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Restless:
        def clean(self, html: str) -> str:
            return html + "<p>more</p>"

    monkeypatch.setattr(sanitize_module, "_CLEANER", Restless())
    assert sanitize("<p>one</p>") == "<p>one</p>"


def test_all_words_of_ordinary_html_are_kept() -> None:
    html = "<div><h1>Title</h1><p>One <b>two</b></p><section>three</section>four<ul><li>five<li>six</ul></div>"
    assert plain(sanitize(html)).split() == ["Title", "One", "two", "three", "four", "five", "six"]
