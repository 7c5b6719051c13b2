"""Helpers that parse HTML with a parser other than the server's, and measure processor time."""

import json
import re
import time
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
POSTS: list[dict[str, Any]] = json.loads((DATA / "posts.json").read_text(encoding="utf-8"))
ATTACKS: list[str] = (DATA / "xss.txt").read_text(encoding="utf-8").split("\n")[:-1]

ALLOWED: dict[str, set[str]] = {
    **{tag: set() for tag in ("br", "del", "s", "pre", "blockquote", "code", "b", "strong", "u", "i", "em", "ul")},
    **{tag: set() for tag in ("ruby", "rt", "rp")},
    "p": {"class"},
    "span": {"class", "translate"},
    "a": {"href", "rel", "class", "translate", "target"},
    "ol": {"start", "reversed"},
    "li": {"value"},
}
CLASSES = re.compile(r"((h|p|u|dt|e)-\S+|mention|hashtag|ellipsis|invisible|quote-inline)?")
SCHEMES = re.compile(r"(https?://[^/\\]|(dat|dweb|ipfs|ipns|ssb|gopher|xmpp|magnet|gemini):)", re.IGNORECASE)


class Reader(HTMLParser):
    """A parser that collects tags and text, and checks that tags are closed in the order in which they were opened."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == [], f"tags without an end: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.data.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"the HTML contains a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"the HTML contains a declaration: {decl}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"the HTML contains an instruction: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"the HTML contains a declaration: {data}")


def assert_harmless(html: str) -> Reader:
    """Fail unless every tag, attribute, class and address is allowed by contract, behaviours section 8."""
    read = Reader(html)
    for tag, attributes in read.tags:
        assert tag in ALLOWED, tag
        assert set(attributes) <= ALLOWED[tag] | {"lang"}, attributes
        assert all(CLASSES.fullmatch(name) for name in (attributes.get("class") or "").split()), attributes
        if tag == "a":
            assert SCHEMES.match(attributes["href"] or ""), attributes
    return read


def takes_at_most(milliseconds: float, work: Callable[[], object]) -> bool:
    """Return whether a call takes at most this much processor time in one of five tries.

    Milliseconds are scaled by the time that a fixed piece of work takes before and after the call, because the machine may be
    slower or busy.
    """
    for _ in range(5):
        slowness = _known_work()
        begin = time.process_time()
        work()
        taken = time.process_time() - begin
        slowness = max(1.0, slowness, _known_work())
        if taken * 1000 <= milliseconds * slowness:
            return True
    return False


def _known_work() -> float:
    """Return the processor time that a fixed piece of work takes now, as a multiple of its usual 7 ms."""
    begin = time.process_time()
    Reader("<p>&amp; words <b>in</b> tags</p>" * 500)
    return (time.process_time() - begin) * 1000 / 7.0
