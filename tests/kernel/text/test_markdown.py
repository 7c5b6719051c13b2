"""Tests of Markdown: it becomes the HTML that clients support, without active content."""

import pytest

from social.kernel.text.markdown import read
from social.kernel.text.scan import Kind
from social.kernel.text.to_html import MentionTarget
from tests.kernel.text.support import ATTACKS, assert_harmless, takes_at_most

BOB = '<span class="h-card" translate="no"><a href="https://x.example/@bob" class="u-url mention">@<span>bob</span></a></span>'
TAG = '<a href="https://x.example/tags/tag" class="mention hashtag" rel="tag">#<span>tag</span></a>'
LINK = (
    '<a href="https://example.com/a_b*c*" target="_blank" rel="nofollow noopener" translate="no"><span class="invisible">'
    'https://</span><span class="">example.com/a_b*c*</span><span class="invisible"></span></a>'
).replace("*c*", "*c")
PLAIN_LINK = '<a href="https://example.com/" rel="nofollow noopener" target="_blank">'


def shown(text: str, **values: str) -> str:
    targets = {"bob": MentionTarget("bob", "bob", "https://x.example/@bob")}
    return read(text).html(mentions=targets, hashtag_url=lambda name: f"https://x.example/tags/{name}", **values)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("a **b** _c_ ~~d~~ `e`", "<p>a <strong>b</strong> <em>c</em> <s>d</s> <code>e</code></p>"),
        ("one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"),
        ("# Head\n- a\n- b", "<p><strong>Head</strong></p><ul><li>a</li><li>b</li></ul>"),
        ("3. c", '<ol start="3"><li>c</li></ol>'),
        ("> said\n\n---\n\n5 * 3 * 2", "<blockquote><p>said</p></blockquote><p>5 * 3 * 2</p>"),
        ("```py\n<b> @bob\n\n x\n```", "<pre><code>&lt;b&gt; @bob\n\n x\n</code></pre>"),
        ("**@bob** #tag https://example.com/a_b*c*", f"<p><strong>{BOB}</strong> {TAG} {LINK}*</p>"),
        (
            "> @bob's\n\n`@bob #tag` \\@bob",
            f"<blockquote><p>{BOB}'s</p></blockquote><p><code>@bob #tag</code> @bob</p>",
        ),
        ("[see @bob](https://example.com/)", f"<p>{PLAIN_LINK}see @bob</a></p>"),
        ("![pic](https://example.com/)", f"<p>!{PLAIN_LINK}pic</a></p>"),
        ("[https://a.com/](https://example.com/)", f"<p>{PLAIN_LINK}https://a.com/</a></p>"),
        ("[x](javascript:alert(1)) <b>&lt;", "<p>[x](javascript:alert(1)) &lt;b&gt;&lt;</p>"),
        ('<span class="e-token-0"></span>@bob', f'<p>&lt;span class="e-token-0"&gt;&lt;/span&gt;{BOB}</p>'),
    ],
)
def test_markdown_is_rendered_as_html_that_clients_support(text: str, html: str) -> None:
    assert shown(text) == html


def test_the_mentions_hashtags_and_links_of_markdown_are_found() -> None:
    document = read("@bob #tag `@no` https://example.com/ [#no](https://example.org)")
    assert [(token.kind, token.raw) for token in document.tokens] == [
        (Kind.MENTION, "@bob"),
        (Kind.HASHTAG, "#tag"),
        (Kind.URL, "https://example.com/"),
    ]
    links = {
        "https://example.com": True,
        "[a](http://example.com)": True,
        "[a](xmpp:a@b.com)": False,
        "`https://a.com`": False,
    }
    assert {text: bool(read(text).links) for text in links} == links


def test_a_quote_post_begins_with_the_address_of_the_quoted_post() -> None:
    url = "https://example.com/@a/1"
    assert shown("**yes**", quote_url=url).startswith('<p class="quote-inline">RE: <a href="https://example.com/@a/1"')
    assert "quote-inline" not in shown(f"yes {url}", quote_url=url)


def test_row_31_markdown_never_becomes_executable_html() -> None:
    for attack in ATTACKS:
        for text in (
            attack,
            f"[x]({attack})",
            f"[{attack}](https://example.com)",
            f"<{attack}>",
            f"`{attack}",
            f"[a]: {attack}\n\n[a]",
        ):
            assert_harmless(shown(text))


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "*a ",
        "_a",
        ">",
        "- ",
        "#a ",
        "@a@b.com ",
        "[x](https://a.com)",
        "&",
        "<a",
        "`a",
        "*_",
        "[a]: b\n",
        "\u0301",
    ],
)
def test_row_32_hostile_markdown_is_rendered_within_two_seconds(part: str) -> None:
    text = part * (20_000 // len(part))
    assert takes_at_most(2000, lambda: shown(text))
