"""The HTML of documents of staff (descriptions, policies, terms): CommonMark with headings, tables, no HTML of its own."""

from __future__ import annotations

from typing import Final

import nh3
from markdown_it import MarkdownIt

_PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


def markdown_to_html(text: str, *, below: int = 0) -> str:
    """HTML that is safe to show: what is written as HTML stays text, links lead to web pages and mail addresses only.

    Headings are `below` levels lower than written, for pages that have headings of their own above.
    """
    nodes = _PARSER.parse(text)
    for node in nodes:
        if node.type in ("heading_open", "heading_close"):
            node.tag = f"h{min(6, int(node.tag[1]) + below)}"
    html = _PARSER.renderer.render(nodes, _PARSER.options, {})
    return nh3.clean(html, url_schemes={"http", "https", "mailto"}).strip()
