"""Reads the tags, the text and the visible text of HTML (tokens of the HTML Standard, section 13.2.5), in linear time.

This module does not make HTML safe: `sanitize` does.
"""

import html as entities
import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

# fmt: off
PARAGRAPHS: Final = frozenset({
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "main", "menu", "nav",
    "ol", "p", "pre", "search", "section", "table", "ul",
})
"""Elements that are displayed as paragraphs, with space before and after them (HTML Standard, section 15.3)."""
LINES: Final = frozenset({"caption", "dd", "dt", "figcaption", "legend", "li", "option", "summary", "title", "tr"})
"""Elements that are displayed on separate lines."""
CELLS: Final = frozenset({"button", "select", "td", "textarea", "th"})
"""Elements that are displayed side by side on a line."""
_PHRASES: Final = frozenset({
    "a", "abbr", "acronym", "audio", "b", "big", "br", "cite", "code", "del", "dfn", "em", "font", "i", "iframe", "img",
    "ins", "kbd", "math", "mark", "object", "picture", "q", "rp", "rt", "ruby", "s", "samp", "script", "small", "span",
    "strike", "strong", "style", "sub", "sup", "svg", "tt", "u", "var", "video", "wbr",
})
_ELEMENTS: Final = PARAGRAPHS | LINES | CELLS | _PHRASES
# fmt: on

_SPACE: Final = r"\t\n\f\r "
_NAME: Final = rf"(?:=?[^{_SPACE}/>=]++|=)"
_EQUALS: Final = rf"[{_SPACE}]*+=[{_SPACE}]*+"
_UNQUOTED_VALUE: Final = rf"[^{_SPACE}>\"'][^{_SPACE}>]*+"
_ATTRIBUTE: Final = rf"{_NAME}(?:{_EQUALS}(?:\"[^\"]*+\"|'[^']*+'|{_UNQUOTED_VALUE}|(?=>)))?+"
# The same pattern with groups. The groups are in no possessive quantifier, because CPython 3.11 would then report wrong spans
# (SystemError). There is no backtracking anyway, because nothing follows the value in the pattern.
_ATTRIBUTES: Final = re.compile(rf"({_NAME})(?:{_EQUALS}(?:\"([^\"]*+)\"|'([^']*+)'|({_UNQUOTED_VALUE})))?")
_MARKUP: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)((?:[{_SPACE}/]++|{_ATTRIBUTE})*+)>")
_UNFINISHED: Final = re.compile(r"</?[a-zA-Z]")
_REFERENCE: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_HIDDEN_CLASS: Final = "invisible"
_COMMENT_END: Final = re.compile(r"--!?>")
# Elements whose content is a script, a style sheet or a frame: nothing in it may be read as text or markup.
_UNREAD: Final = {
    name: re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII)
    for name in ("script", "style", "iframe", "noembed", "noframes", "template")
}


class Tag(NamedTuple):
    """A start or end tag: its name in lower case, and the text of its attributes, not yet read."""

    name: str
    closing: bool
    attributes: str

    def read_attributes(self) -> dict[str, str]:
        """Return the attributes by lower-case name, with values as written (character references not resolved).

        Of several attributes with one name, the first counts.
        """
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTES.findall(self.attributes):
            found.setdefault(name.lower(), double or single or bare)
        return found


def tokenise(html: str) -> Iterator[str | Tag]:
    """Return the tags of an HTML text and the texts between them, in order; character references in texts are not resolved.

    Comments, declarations and the content of scripts, styles and frames are left out. As in browsers, a tag, comment or
    script that never ends is left out with everything after it. The time is always linear in the length of the text.
    """
    done = 0
    while (markup := _MARKUP.search(html, done)) is not None:
        start = markup.start()
        if start > done:
            yield html[done:start]
        tag = _TAG.match(html, start)
        if tag is not None:
            name = tag[2].lower()
            closing = tag[1] == "/"
            done = tag.end()
            yield Tag(name, closing, tag[3])
            if not closing and name in _UNREAD:
                end = _UNREAD[name].search(html, done)
                if end is None:
                    return
                done = end.start()
        else:
            done = _after_declaration(html, start)
            if not done:
                return
    if done < len(html):
        yield html[done:]


def _after_declaration(html: str, start: int) -> int:
    """Return the end of a comment or declaration that begins at `start`; 0 if it never ends."""
    if html.startswith("<!--", start):
        end = _COMMENT_END.search(html, start + 2)
        return end.end() if end else 0
    if _UNFINISHED.match(html, start):
        return 0
    return html.find(">", start) + 1


_FOLDED: Final = re.compile(r"(?<![ \t\f\n\r])[ \t\f]*+[\n\r][ \t\f\n\r]*+")


def is_markup(text: str) -> bool:
    """Tell whether a text without a media type is HTML: whether it contains an HTML tag or a character reference (`a < b`
    contains neither).
    """
    if _REFERENCE.search(text) is not None:
        return True
    return any(isinstance(token, Tag) and token.name in _ELEMENTS for token in tokenise(text))


def plain(html: str) -> str:
    """Return the text of some HTML: tags stripped, character references resolved.

    A `<br>` becomes a line end, paragraphs and other boxes are separated by an empty line, and there is never more than one
    empty line. Outside `<pre>`, line ends of the HTML itself become spaces, as in browsers. Scripts and styles have no text.
    Linear in the length of the HTML; the result is text, not HTML: escape it where it is shown.
    """
    return plain_of(tokenise(html))


def plain_of(tokens: Iterable[str | Tag]) -> str:
    """Return the text of HTML tokens; see `plain`."""
    written: list[str] = []
    line_ends = preformatted = 0
    for token in tokens:
        if isinstance(token, Tag):
            if token.name == "br":
                line_ends = min(line_ends + 1, 2)
            elif token.name in PARAGRAPHS:
                line_ends = 2
                if token.name == "pre":
                    preformatted = max(0, preformatted + (-1 if token.closing else 1))
            elif token.name in LINES:
                line_ends = max(line_ends, 1)
            elif token.name in CELLS and token.closing:
                written.append(" ")
            continue
        text = token if preformatted else _FOLDED.sub(" ", token)
        if "&" in text:
            text = entities.unescape(text)
        if not preformatted and (line_ends or not written):
            text = text.lstrip(" \t\f\n\r")
        if not text:
            continue
        if line_ends and written:
            written[-1] = written[-1].rstrip(" \t")
            written.append("\n" * line_ends)
        line_ends = 0
        written.append(text)
    return "".join(written).strip()


_ANNOTATED: Final = re.compile("<r[tp][ >]")


def _with_annotations_last(tokens: Iterable[str | Tag]) -> list[str | Tag]:
    """Return the tokens of sanitised HTML without `<rp>`, and with each `<rt>` as a paragraph at the end."""
    text: list[str | Tag] = []
    annotations: list[str | Tag] = []
    depths = {"rt": 0, "rp": 0}
    for token in tokens:
        if isinstance(token, Tag) and token.name in depths:
            depths[token.name] += -1 if token.closing else 1
            if token.name == "rt":
                annotations.append(token._replace(name="p"))
        elif not depths["rp"]:
            (annotations if depths["rt"] else text).append(token)
    return text + annotations


def split_hidden(html: str) -> tuple[str, list[str]]:
    """Return the visible text of sanitised HTML, and the whole text of each link that hides part of its text.

    Elements of the class `invisible` are hidden by clients, e.g. the beginning and the end of long addresses from Mastodon. A
    word divided by such an element is seen as one word (security row 74). The whole text of such a link is its address, which
    people search for and which Mastodon's filters find; the address is returned separately, so that it divides no words. For
    the same reason, annotations (`<rt>`), which are displayed above the text, come at the end, and `<rp>`, which no browser
    displays, is left out. Linear in the length of the HTML.
    """
    annotated = _ANNOTATED.search(html) is not None
    if _HIDDEN_CLASS not in html and not annotated:
        return plain(html), []
    tokens = _with_annotations_last(tokenise(html)) if annotated else tokenise(html)
    seen: list[str | Tag] = []
    link: list[str | Tag] = []
    links: list[str] = []
    hiding, depth, in_link, is_cut = "", 0, False, False
    for token in tokens:
        hidden = depth > 0
        if isinstance(token, Tag):
            if hidden and token.name == hiding:
                depth += -1 if token.closing else 1
            elif not hidden and not token.closing and _HIDDEN_CLASS in token.read_attributes().get("class", "").split():
                hiding, depth, hidden = token.name, 1, True
            if token.name == "a" and not hidden:
                if in_link and is_cut:
                    links.append(plain_of(link))
                in_link, is_cut = not token.closing, False
                link.clear()
        elif hidden:
            is_cut = True
        if not hidden:
            seen.append(token)
        if in_link:
            link.append(token)
    return plain_of(seen), links
