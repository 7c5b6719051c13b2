"""Strategies for property tests: texts and tag soup, made of difficult pieces and arbitrary characters."""

from hypothesis import strategies as st

from social.kernel.text.names import clean_input

_WORDS = [
    *("hello", "Привет", "γειά", "مرحبا", "שלום", "नमस्ते", "สวัสดี", "你好", "こんにちは", "안녕"),
    *("@alice", "@bob@example.social", "@x@例え.jp", "@l@localhost:8001", "@", "@@", "@a@", "@a@b.c@d", "@a.", "@-"),
    *("#tag", "＃タグ", "#1", "#·", "#a·b·", "#", "##a", "#\ufe0f\u20e3", "#é", "#\u200c"),
    *("https://", "http://example.com", "https://www.example.com/a_(b)", "https://例え.jp/パス", "https://a.comです"),
    *("HTTPS://", "https://a@b", "https://a.com:80/", "https://a.com:99999", "http://[::1]/", "http://localhost"),
    *("xmpp:", "xmpp:a@b.org?join", "magnet:", "magnet:?xt=1", "ipfs://x", "gemini://a.org/", "javascript:alert(1)"),
    *(
        ":blob:",
        ":a:",
        ":",
        "::",
        ":ab",
        "(",
        ")",
        "((",
        "))",
        ".",
        ",",
        "!",
        "?",
        "…",
        "。",
        "、",
        "「",
        "」",
        "’",
        '"',
    ),
    *("<", ">", "&", "&amp;", "<script>", "</p>", "'", "\\", "`", "/", "//", "=", "_", "-", "%", "~"),
    *(" ", "  ", "\n", "\n\n", "\n \n", "\t", "\u3000", "\xa0", "\u200b", "\u200d", "\ufeff", "\u202e", "\x01"),
    *("👨‍👩‍👧", "🇩🇪", "🇩", "👍🏽", "e\u0301", "\u0301"),
]
texts = st.lists(st.one_of(st.sampled_from(_WORDS), st.text(max_size=4)), max_size=40).map("".join).map(clean_input)
"""Texts for the scanner."""

# fmt: off
_TAGS = [
    "p", "br", "span", "a", "del", "s", "pre", "blockquote", "code", "b", "strong", "u", "i", "em", "ul", "ol",
    "li", "ruby", "rt", "rp", "h1", "h3", "h6", "div", "section", "table", "tbody", "tr", "td", "caption", "svg",
    "math", "semantics", "annotation", "mtext", "mglyph", "foreignObject", "style", "script", "textarea", "title",
    "select", "option", "optgroup", "button", "form", "template", "noscript", "noembed", "iframe", "object",
    "marquee", "img", "image", "input", "hr", "font", "nobr", "big", "tt", "xmp", "plaintext", "body", "html",
    "frameset", "main", "details", "dd", "dt", "rtc", "x-y", "p\x00", "P", "A", "BR",
]
# fmt: on
_ATTRIBUTES = [
    *("", "", "", " ", "/", " /", '"', "'", "=", " =", " = "),
    *(' class="mention x h-card"', " class=u-url", ' class="p-&quot;&lt;"', " class", ' class="h-\xa0 e-\n"'),
    *(' href="https://a.example/?x=1&y=2"', " href=javascript:alert(1)", ' href="//x"', ' href="/x"', " href"),
    *(' href="https://[x"', ' href="http://a b/"', ' href="https://xn--a/"', ' href="xmpp:a@b"', ' href="HTTPS://A"'),
    *(' href="java&#10;script:alert(1)"', ' href="https://a.example/&quot;onclick=alert(1)"', " onclick=alert(1)"),
    *(
        " lang=de",
        ' lang="x y"',
        ' lang="de&quot;"',
        " start=3 reversed",
        ' start="3x"',
        ' value="-2"',
        " translate=no",
    ),
    *(" translate=yes", ' title="<b>"', ' title="</p>"', ' title="', " encoding='application/x-tex'", " display=block"),
]
_PIECES = [
    *("a", "b c", " ", "\n", "\n\n", "\r", "\t", "\x0c", "\x1f", "\x7f", "\x85", "\xa0", "\u2028", "\ufeff", "\0"),
    *("&lt;", "&amp;", "&nbsp;", "&#13;", "&#10;", "&#0;", "&#xD800;", "&#128;", "&#x1F600;", "&", "&am", "p;", "&not"),
    *(
        "<",
        ">",
        "</",
        "<!",
        "<!--",
        "-->",
        "--!>",
        "<!-->",
        "<![CDATA[",
        "]]>",
        "<?x",
        "<!doctype html>",
        "</>",
        "< p>",
    ),
    *("日本", "👨‍👩‍👧", "é", "<3", "\ud800"),
]
_start_tags = st.builds(
    lambda name, attributes, end: f"<{name}{''.join(attributes)}{end}",
    st.sampled_from(_TAGS),
    st.lists(st.sampled_from(_ATTRIBUTES), max_size=3),
    st.sampled_from([">", ">", ">", "/>", " >", ""]),
)
_end_tags = st.sampled_from(_TAGS).map("</{}>".format)
tag_soups = st.lists(st.one_of(_start_tags, _end_tags, st.sampled_from(_PIECES), st.text(max_size=3)), max_size=40).map(
    "".join
)
"""Invalid HTML: any tags in any order, broken attributes, comments, references, raw elements."""
