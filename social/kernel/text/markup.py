"""Where the tags of an HTML text begin and end: the tokens of the HTML Standard (section 13.2.5), in linear time.

It is no judge of what is safe: `sanitize` and `plain` are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# fmt: off
PARAGRAPHS: Final = frozenset({
    "address", "article", "aside", "blockquote", "center", "details", "dialog", "dir", "div", "dl", "fieldset",
    "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "main", "menu", "nav",
    "ol", "p", "pre", "search", "section", "table", "ul",
})
"""Boxes that stand apart from the text before and after them (HTML Standard, section 15.3)."""
LINES: Final = frozenset({"caption", "dd", "dt", "figcaption", "legend", "li", "option", "summary", "title", "tr"})
"""Boxes that begin a line of their own."""
CELLS: Final = frozenset({"button", "select", "td", "textarea", "th"})
"""Boxes that stand beside each other on a line."""
# fmt: on

_SPACE: Final = r"\t\n\f\r "
_NAME: Final = rf"(?:=?[^{_SPACE}/>=]++|=)"
_EQUALS: Final = rf"[{_SPACE}]*+=[{_SPACE}]*+"
_BARE: Final = rf"[^{_SPACE}>\"'][^{_SPACE}>]*+"
_ATTRIBUTE: Final = rf"{_NAME}(?:{_EQUALS}(?:\"[^\"]*+\"|'[^']*+'|{_BARE}|(?=>)))?+"
# The same with groups, and without a possessive quantifier around them: with one, CPython 3.11 reports wrong spans
# (SystemError). Nothing follows the value, so there is nothing to try again.
_ATTRIBUTES: Final = re.compile(rf"({_NAME})(?:{_EQUALS}(?:\"([^\"]*+)\"|'([^']*+)'|({_BARE})))?")
_MARKUP: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)((?:[{_SPACE}/]++|{_ATTRIBUTE})*+)>")
_UNFINISHED: Final = re.compile(r"</?[a-zA-Z]")
_COMMENT_END: Final = re.compile(r"--!?>")
# Their content is no text but program or frame; what it looks like must not be read as markup.
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
        """The attributes by lower-case name, values as written (character references not resolved); the first wins."""
        found: dict[str, str] = {}
        for name, double, single, bare in _ATTRIBUTES.findall(self.attributes):
            found.setdefault(name.lower(), double or single or bare)
        return found


def tokenise(html: str) -> Iterator[str | Tag]:
    """The tags of an HTML text and the texts between them, in order; character references in texts are not resolved.

    Comments, declarations and the content of scripts, styles and frames are left out; so is a tag, comment or script
    that never ends, with all that follows it, as browsers do. Linear in the length of the text whatever it holds.
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
    """Where a comment or declaration that begins at `start` is over; 0 if it never is."""
    if html.startswith("<!--", start):
        end = _COMMENT_END.search(html, start + 2)
        return end.end() if end else 0
    if _UNFINISHED.match(html, start):
        return 0
    return html.find(">", start) + 1
