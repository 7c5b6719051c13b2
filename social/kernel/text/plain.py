"""The text that HTML shows."""

from __future__ import annotations

import html as entities
import re
from collections.abc import Iterable
from typing import Final

from social.kernel.text.markup import CELLS, LINES, PARAGRAPHS, Tag, tokenise

_FOLDED: Final = re.compile(r"(?<![ \t\f\n\r])[ \t\f]*+[\n\r][ \t\f\n\r]*+")


def plain(html: str) -> str:
    """The text of some HTML: tags stripped, character references resolved.

    A `<br>` becomes a line end, a paragraph or other box stands apart by an empty line, and there is never more than
    one empty line. Line ends of the HTML itself are spaces, outside `<pre>`, as browsers show them. Scripts and styles
    have no text. Linear in the length of the HTML; the result is text, not HTML: escape it where it is shown.
    """
    return plain_of(tokenise(html))


def plain_of(tokens: Iterable[str | Tag]) -> str:
    """The text of HTML tokens; see `plain`."""
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
