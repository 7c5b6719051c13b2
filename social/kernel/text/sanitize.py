"""Sanitizing of HTML from other servers, in two steps.

A rewriter brings the text into the allow-list's own form in linear time: well nested, of bounded depth, headings, links and
formulas replaced, everything else dropped or turned into text. Then nh3, which parses as browsers do, cleans the result. The
result is returned only if nh3 has changed nothing in it. Source: contract, behaviours section 8; security rows 31 to 34.
"""

import html as entities
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

import nh3

from social.kernel.text.markup import CELLS, LINES, PARAGRAPHS, Tag, plain_of, tokenise
from social.kernel.text.names import clean_input

MAX_BYTES: Final = 100 * 1024
"""Maximum size of the HTML that is accepted, and of the result, in bytes of UTF-8 (security row 32)."""

MAX_TAGS: Final = 3_000
"""Maximum number of tags in the HTML that is accepted, and in the result. With MAX_DEPTH, this bounds the time for 100 KB."""

MAX_DEPTH: Final = 50
"""Deepest nesting that is kept, because the time to parse is quadratic in the depth. Deeper tags are left out, but not their
text.
"""

_ROUNDS: Final = 3
_TEXT_TOKENS: Final = 10_000

_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_LISTS: Final = frozenset({"ul", "ol"})
_BLOCKS: Final = frozenset({"p", "pre", "blockquote", "ul", "ol", "li", "heading"})
_INLINE: Final = frozenset({"span", "a", "del", "s", "code", "b", "strong", "u", "i", "em", "ruby", "rt", "rp"})
# Elements whose tags are replaced by a space, so that their text does not run into the text around them.
_DIVIDING: Final = PARAGRAPHS | LINES | CELLS

_SCHEMES: Final = ("http", "https", "dat", "dweb", "ipfs", "ipns", "ssb", "gopher", "xmpp", "magnet", "gemini")
_WEB_HREF: Final = re.compile(r"https?://[^/\\?#\s]", re.IGNORECASE | re.ASCII)
_APP_HREF: Final = re.compile(rf"(?:{'|'.join(_SCHEMES[2:])}):.", re.IGNORECASE | re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]")
_ALLOWED_CLASS: Final = re.compile(r"(?:h|p|u|dt|e)-.+|mention|hashtag|ellipsis|invisible|quote-inline", re.DOTALL)
_BLANK_LINES: Final = re.compile(r"\n{2,}")


def _href(value: str) -> str | None:
    # An address that begins with a space or contains a line end is dropped, because browsers skip these characters in ways that
    # have deceived filters.
    if (_WEB_HREF.match(value) or _APP_HREF.match(value)) and not re.search(r"[\x00-\x1f\x7f]", value):
        return value
    return None


def _classes(value: str) -> str | None:
    return " ".join(name for name in value.split() if _ALLOWED_CLASS.fullmatch(name)) or None


_Filter = Callable[[str], str | None]


def _only(pattern: str) -> _Filter:
    return lambda value: value if re.fullmatch(pattern, value) else None


_language: Final = _only(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,6}")
_number: Final = _only(r"-?[0-9]{1,9}")
_ATTRIBUTES: Final[Mapping[str, Mapping[str, _Filter]]] = {
    "a": {"href": _href, "class": _classes, "translate": _only("no")},
    "span": {"class": _classes, "translate": _only("no")},
    "p": {"class": _classes},
    "ol": {"start": _number, "reversed": lambda value: ""},
    "li": {"value": _number},
}
_LINK: Final = {"rel": "nofollow noopener", "target": "_blank"}

_CLEANER: Final = nh3.Cleaner(
    tags=(_BLOCKS - {"heading"}) | _INLINE | {"br"},
    attributes={"*": {"lang"}, **{tag: set(filters) for tag, filters in _ATTRIBUTES.items()}},
    tag_attribute_values={"a": {name: {value} for name, value in _LINK.items()}},
    link_rel=None,
    url_schemes=set(_SCHEMES),
    url_relative="deny",
)


def sanitize(html: str) -> str:
    """Return HTML from other servers, reduced to the tags, attributes, classes and addresses that may be shown.

    Never raises. Guarantees that sanitising the result changes nothing, and that the result holds at most `MAX_BYTES` and
    `MAX_TAGS`. Scripts, styles and frames are dropped with their content, other tags without it. A link to a relative address,
    or with a scheme that is not allowed, becomes its text. HTML that exceeds those limits, or that still changes after some
    rounds, is returned as its escaped text, cut to fit.
    """
    html = clean_input(html)
    try:
        current = html
        for _ in range(_ROUNDS):
            if not _is_within_limits(current) or not _is_within_limits(rewritten := _rewrite(current)):
                break
            current = _CLEANER.clean(rewritten)
            if current == rewritten:
                return current
    except BaseException as failure:
        # A panic of the parser arrives as a BaseException; only exceptions that stop the program may pass.
        if isinstance(failure, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
    return _as_text(html)


def _is_within_limits(html: str) -> bool:
    return len(html) <= MAX_BYTES and html.count("<") <= MAX_TAGS and _size(html) <= MAX_BYTES


def _size(html: str) -> int:
    return len(html) if html.isascii() else len(html.encode())


class _Open(NamedTuple):
    name: str
    end: str


class _Rewriter:
    """Writer of tokens in the allow-list's form. Rewriting its own output changes nothing."""

    def __init__(self) -> None:
        self.out: list[str] = []
        self.stack: list[_Open] = []
        self.open: Counter[str] = Counter()
        self.skipped: dict[str, int] = {}
        self.in_refused_link = False
        self.after_text = False
        self.divided = False

    def text(self, raw: str) -> None:
        text = _resolve(raw)
        if self.out and self.out[-1].startswith("<pre"):
            # The parser drops one line end after `<pre>` each time that the text is parsed.
            text = text.lstrip("\n")
        elif self.out and self.out[-1].startswith("<br") and not self.open["pre"]:
            # Some servers write a `<br>` and a line end, which clients would show as two line breaks (client trap 48).
            text = text.lstrip("\n")
        if not text:
            return
        if self.divided and self.after_text and not text[0].isspace():
            self.out.append(" ")
        self.out.append(_escape(text))
        self.divided, self.after_text = False, not text[-1].isspace()

    def tag(self, tag: Tag) -> None:
        name = "heading" if tag.name in _HEADINGS else tag.name
        if name == "br":
            if not tag.closing:
                self.out.append(f"<br{_attributes('br', tag)}>")
                self.after_text = False
        elif name in _BLOCKS or name in _INLINE:
            if tag.closing:
                self.close(name)
            elif name in _BLOCKS:
                self.open_block(name, tag)
            else:
                self.open_inline(name, tag)
        elif name in _DIVIDING:
            self.divided = True

    def open_block(self, name: str, tag: Tag) -> None:
        if name == "p" and self.open["heading"]:
            self.skip(name)
            self.divided = True
            return
        self.leave_refused_link()
        if name == "li":
            self.close_innermost("li")
        self.close_innermost("p")
        self.close_innermost("heading")
        if name == "heading":
            self.push(name, f"<p{_attributes('p', tag)}><strong>", "</strong></p>")
        else:
            self.push(name, f"<{name}{_attributes(name, tag)}>", f"</{name}>")

    def open_inline(self, name: str, tag: Tag) -> None:
        if name == "a":
            self.leave_refused_link()
            self.close_innermost("a")
            attributes = _attributes("a", tag)
            if " href=" in attributes:
                self.push(name, f"<a{attributes}>", "</a>")
            else:
                self.in_refused_link = True
            return
        if self.in_refused_link:
            # Parts that a link hides (its scheme, the end of a long address) must be shown where the link is dropped.
            self.skip(name)
            return
        if name in ("rt", "rp") and self.open["ruby"]:
            while self.stack[-1].name in ("p", "li", "rt", "rp"):
                self.close_to(len(self.stack) - 1)
        self.push(name, f"<{name}{_attributes(name, tag)}>", f"</{name}>")

    def push(self, name: str, start: str, end: str) -> None:
        if len(self.stack) >= MAX_DEPTH:
            self.skip(name)
            return
        self.out.append(start)
        self.stack.append(_Open(name, end))
        self.open[name] += 1
        if name in _BLOCKS:
            self.divided = self.after_text = False

    def skip(self, name: str) -> None:
        self.skipped[name] = self.skipped.get(name, 0) + 1

    def leave_refused_link(self) -> None:
        if self.in_refused_link:
            self.in_refused_link = False
            self.skipped.clear()

    def close(self, name: str) -> None:
        """Handle an end tag: close the innermost open `name` and all tags open inside it, if there is one."""
        if name == "a" and self.in_refused_link:
            self.leave_refused_link()
        elif self.skipped.get(name):
            self.skipped[name] -= 1
        else:
            self.close_innermost(name)

    def close_innermost(self, name: str) -> None:
        if not self.open[name]:
            return
        for depth in range(len(self.stack) - 1, -1, -1):
            opened = self.stack[depth].name
            if opened == name:
                self.close_to(depth)
                return
            if name == "li" and opened in _LISTS:
                return

    def close_to(self, depth: int) -> None:
        while len(self.stack) > depth:
            name, end = self.stack.pop()
            self.open[name] -= 1
            self.out.append(end)
            if name in _BLOCKS:
                self.divided = self.after_text = False


def _rewrite(html: str) -> str:
    writer = _Rewriter()
    tokens = tokenise(html)
    for token in tokens:
        if isinstance(token, str):
            writer.text(token)
        elif token.name == "math" and not token.closing:
            writer.text(entities.escape(_formula(token, tokens), quote=False))
        else:
            writer.tag(token)
    writer.close_to(0)
    return "".join(writer.out)


def _formula(math: Tag, tokens: Iterator[str | Tag]) -> str:
    """Return a MathML formula as text: its TeX annotation between dollar signs, otherwise its plain annotation, otherwise its
    text.
    """
    texts: dict[str, list[str]] = {"": []}
    kind = ""
    for token in tokens:
        if isinstance(token, str):
            texts.setdefault(kind, []).append(_resolve(token))
        elif token.name == "math" and token.closing:
            break
        elif token.name in ("annotation", "annotation-xml"):
            kind = "" if token.closing else _resolve(token.read_attributes().get("encoding", "")).lower() or "none"
    if "application/x-tex" in texts:
        sign = "$$" if _resolve(math.read_attributes().get("display", "")).lower() == "block" else "$"
        return sign + "".join(texts["application/x-tex"]).strip() + sign
    return "".join(texts.get("text/plain", texts[""]))


def _attributes(name: str, tag: Tag) -> str:
    if not tag.attributes or tag.attributes.isspace():
        return ""
    filters = _ATTRIBUTES.get(name, {})
    kept: dict[str, str] = {}
    for attribute, raw in tag.read_attributes().items():
        check = _language if attribute == "lang" else filters.get(attribute)
        if check is not None and (value := check(_resolve(raw))) is not None:
            kept[attribute] = value
    if "href" in kept:
        kept |= _LINK
    return "".join(f' {attribute}="{_escape(value).replace(chr(34), "&quot;")}"' for attribute, value in kept.items())


def _resolve(raw: str) -> str:
    """Return HTML text with its character references resolved, without the characters that parsers treat differently."""
    if "&" in raw:
        raw = clean_input(entities.unescape(raw))
    return _CONTROL.sub("", raw) if _CONTROL.search(raw) else raw


def _escape(text: str) -> str:
    # These are exactly the references that nh3 writes, so that its output can equal its input.
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\xa0", "&nbsp;")


def _as_text(html: str) -> str:
    """Return the escaped text of HTML in paragraphs, cut to the limits."""
    room, tags = MAX_BYTES - len("<p></p>"), MAX_TAGS - 2
    written: list[str] = []
    text = _CONTROL.sub("", clean_input(plain_of(_beginning(html))))
    for paragraph in _BLANK_LINES.split(text):
        between = "</p><p>"
        for line in filter(None, paragraph.split("\n")):
            before, between = between if written else "", "<br>"
            escaped = _escape(line)
            room -= len(before)
            tags -= before.count("<")
            if tags < 0 or room < 0:
                return f"<p>{''.join(written)}</p>"
            if _size(escaped) > room:
                # No character takes more than six bytes once escaped.
                return f"<p>{''.join(written)}{before}{_escape(line[: room // 6])}</p>"
            written += (before, escaped)
            room -= _size(escaped)
    return f"<p>{''.join(written)}</p>" if written else ""


def _beginning(html: str) -> Iterator[str | Tag]:
    room = MAX_BYTES
    for token in islice(tokenise(html), _TEXT_TOKENS):
        if isinstance(token, str):
            token, room = token[:room], room - len(token)
        yield token
        if room <= 0:
            return
