"""Knows where the tags of an HTML text begin and end: the tokens of the HTML Standard (section 13.2.5), in linear time.

It is no judge of what is safe: `sanitize` and `plain` are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_SPACE: Final = r"\t\n\f\r "
_ATTRIBUTE: Final = (
    rf"(=?[^{_SPACE}/>=]++|=)"
    rf"(?:[{_SPACE}]*+=[{_SPACE}]*+(?:\"([^\"]*+)\"|'([^']*+)'|([^{_SPACE}>\"'][^{_SPACE}>]*+)|(?=>)))?+"
)
_ATTRIBUTES: Final = re.compile(_ATTRIBUTE)
_MARKUP: Final = re.compile(r"<(?=[a-zA-Z/!?])")
_TAG: Final = re.compile(rf"<(/?)([a-zA-Z][^{_SPACE}/>]*+)((?:[{_SPACE}/]++|{_ATTRIBUTE})*+)>")
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
    if html[start + 1 : start + 2].isalpha() or html[start + 2 : start + 3].isalpha():
        following = html[start + 1 : start + 3]
        if following[:1] != "!" and following[:1] != "?":
            return 0
    return html.find(">", start) + 1
