"""Renders Markdown as HTML (CommonMark 0.31 with ~~strikethrough~~; every line end is a line break).

HTML in the text stays text, and pictures become links. Addresses, mentions and hashtags are found where `scan` finds them,
but not in code and not in the text of a link. The library's output passes the same allow-list as HTML from other servers;
mentions, hashtags and addresses are inserted afterwards, in the form of `to_html`.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token as Node

from social.kernel.text.names import clean_input
from social.kernel.text.sanitize import sanitize
from social.kernel.text.scan import Kind, Token, scan, web_links
from social.kernel.text.to_html import MentionTarget, quote_fallback, token_writer

_KINDS: Final = (Kind.URL, Kind.MENTION, Kind.HASHTAG)
_PLACE: Final = re.compile(r'<span class="e-token-([0-9]+)"></span>')
_TAG_GAP: Final = re.compile(r">\n+(?=<|\Z)")
_WEB: Final = ("http://", "https://")


@dataclass(frozen=True)
class Document:
    """Parsed text. `tokens` are its addresses, mentions and hashtags, in order; `links` are all its web links."""

    tokens: tuple[Token, ...]
    links: tuple[str, ...]
    _nodes: Sequence[Node]

    def html(
        self,
        *,
        mentions: Mapping[str, MentionTarget],
        hashtag_url: Callable[[str], str],
        quote_url: str | None = None,
    ) -> str:
        """Render the text, with the parameters and guarantees of `to_html`."""
        shown = sanitize(_MARKDOWN.renderer.render(self._nodes, _MARKDOWN.options, {}))
        shown = _TAG_GAP.sub(">", shown)
        write = token_writer(self.tokens, mentions, hashtag_url)
        body = _PLACE.sub(lambda place: write(self.tokens[int(place[1])]), shown)
        return quote_fallback(self.tokens, quote_url) + body


def read(text: str) -> Document:
    """Parse a text in Markdown. The caller must limit the text's length, as for posts."""
    found: list[Token] = []
    nodes = _MARKDOWN.parse(clean_input(text), {"found": found})
    written = (
        str(child.attrGet("href") or "") for node in nodes for child in node.children or () if child.type == "link_open"
    )
    return Document(
        tuple(found), (*web_links(found), *(href for href in written if href.lower().startswith(_WEB))), nodes
    )


class _Places(NamedTuple):
    """Starts of addresses, mentions and hashtags in the text of a paragraph, in order."""

    places: list[int]
    by_place: dict[int, Token]


def _places_in(state: StateInline) -> _Places:
    known: dict[str, _Places] = state.env.setdefault("known", {})
    if state.src not in known:
        by_place: dict[int, Token] = {}
        place = 0
        for token in scan(state.src):
            if token.kind in _KINDS:
                by_place[place] = _outside_brackets(token)
            place += len(token.raw)
        known[state.src] = _Places(list(by_place), by_place)
    return known[state.src]


def _outside_brackets(token: Token) -> Token:
    """Return the token; for an address that is the text of a Markdown link, only the part before `](`."""
    if token.kind is Kind.URL and "](" in token.raw:
        return replace(token, raw=token.raw.partition("](")[0].rstrip("*_~"))
    return token


def _token(state: StateInline, silent: bool) -> bool:
    if state.linkLevel:
        return False
    token = _places_in(state).by_place.get(state.pos)
    if token is None or state.pos + len(token.raw) > state.posMax:
        return False
    if not silent:
        node = state.push("social", "", 0)
        node.meta["number"] = len(state.env["found"])
        state.env["found"].append(token)
    state.pos += len(token.raw)
    return True


def _text(state: StateInline, silent: bool) -> bool:
    """Read text as the library's rule does, but end the text where a link, mention or hashtag begins."""
    special = state.md.inline.terminator_re.search(state.src, state.pos, state.posMax)
    end = special.start() if special is not None else state.posMax
    if not state.linkLevel:
        places = _places_in(state).places
        following = bisect_right(places, state.pos)
        end = min(end, places[following]) if following < len(places) else end
    if end == state.pos:
        return False
    if not silent:
        state.pending += state.src[state.pos : end]
    state.pos = end
    return True


def _place(self: RendererHTML, nodes: Sequence[Node], number: int, options: Any, env: Any) -> str:
    return f'<span class="e-token-{nodes[number].meta["number"]}"></span>'


def _make_parser() -> MarkdownIt:
    made = MarkdownIt("commonmark", {"html": False, "breaks": True, "maxNesting": 20})
    made.enable("strikethrough")
    made.disable(["image", "html_block", "html_inline"])
    made.inline.ruler.before("text", "social", _token)
    made.inline.ruler.at("text", _text)
    made.add_render_rule("social", _place)
    return made


_MARKDOWN: Final = _make_parser()


_PARSER: Final = MarkdownIt("commonmark", {"html": False}).enable("table")


def markdown_to_html(text: str, *, below: int = 0) -> str:
    """Return HTML that is safe to show: HTML in the text stays text, links lead to web pages and mail addresses only. Headings
    are `below` levels lower than written, for pages that have other headings above.
    """
    nodes = _PARSER.parse(text)
    for node in nodes:
        if node.type in ("heading_open", "heading_close"):
            node.tag = f"h{min(6, int(node.tag[1]) + below)}"
    html = _PARSER.renderer.render(nodes, _PARSER.options, {})
    return nh3.clean(html, url_schemes={"http", "https", "mailto"}).strip()
