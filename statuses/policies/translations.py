"""Translations of posts: what a translation service is sent, and what is taken of its answer.

A service is trusted with words alone: links, mentions, hashtags and custom emojis of a translation are those of the post,
and the rest is sanitised.
"""

from __future__ import annotations

import html as entities
import re
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from accounts.emojis.queries import SHORTCODE
from social.kernel.text.markup import Tag, plain, tokenise
from social.kernel.text.names import clean_input
from social.kernel.text.sanitize import sanitize

CHARACTERS_LIMIT: Final = 30_000
"""Limit of the characters of all texts of a post that is translated: services charge by the character."""

_SHORTCODE_HTML: Final = '<span translate="no">:{}:</span>'
_WRAPPED_SHORTCODE: Final = re.compile(r'<span translate="no">(:[a-zA-Z0-9_]+:)</span>')


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Translation of a post into `language`. `content` is safe HTML, the other texts are plain: those of the options of a
    poll in their order, those of the files by their ids.
    """

    language: str
    detected_source_language: str
    provider: str
    content: str = ""
    spoiler_text: str = ""
    options: list[str] = field(default_factory=list)
    descriptions: dict[str, str] = field(default_factory=dict)


class _Link(NamedTuple):
    opening: Tag
    inner: str

    @property
    def href(self) -> str:
        return entities.unescape(self.opening.read_attributes().get("href", ""))

    @property
    def stays(self) -> bool:
        """Tell whether the text is an address, a mention or a hashtag, which no language has another word for."""
        return not any(letter.isspace() for letter in plain(self.inner))

    def written(self, inner: str | None = None) -> str:
        return f"<a{self.opening.attributes}>{self.inner if inner is None else inner}</a>"


def prepare_html(html: str) -> str:
    """Return the HTML of a post as a service is sent it: what it must not translate has `translate="no"`."""
    return "".join(_marked(part) for part in _parts(html))


def restore_html(answer: str, html: str) -> str:
    """Return the HTML that a service answered to `prepare_html(html)`, sanitised, with the links of `html`: other links
    become their text, and addresses, mentions and hashtags that are missing follow at the end.
    """
    links: defaultdict[str, deque[_Link]] = defaultdict(deque)
    for part in _parts(html):
        if isinstance(part, _Link):
            links[part.href].append(part)
    written: list[str] = []
    for part in _parts(sanitize(answer)):
        if not isinstance(part, _Link):
            written.append(_html_of(part))
        elif same := links.get(part.href):
            link = same.popleft()
            written.append(link.written(None if link.stays else part.inner))
        else:
            written.append(part.inner)
    missing = [link.written() for left in links.values() for link in left if link.stays]
    if missing:
        written.append(f"<p>{' '.join(missing)}</p>")
    return _WRAPPED_SHORTCODE.sub(r"\1", "".join(written))


def prepare_text(text: str) -> str:
    """Return a plain text as a service is sent it, which is HTML."""
    return _with_kept_emojis(entities.escape(text, quote=False)).replace("\n", "<br>")


def restore_text(answer: str) -> str:
    """Return the plain text that a service answered to `prepare_text`."""
    return plain(clean_input(answer))


def _marked(part: str | Tag | _Link) -> str:
    if isinstance(part, str):
        return _with_kept_emojis(part)
    if isinstance(part, Tag):
        return _html_of(part)
    href = entities.escape(part.href)
    if part.stays:
        return f'<a href="{href}" translate="no">{part.inner}</a>'
    return f'<a href="{href}">{"".join(map(_marked, tokenise(part.inner)))}</a>'


def _with_kept_emojis(html: str) -> str:
    return SHORTCODE.sub(lambda found: _SHORTCODE_HTML.format(found[1]), html) if ":" in html else html


def _parts(html: str) -> Iterator[str | Tag | _Link]:
    """The tokens of sanitised HTML, in which links are not nested; a link is one part."""
    opening: Tag | None = None
    inside: list[str] = []
    for token in tokenise(html):
        if isinstance(token, Tag) and token.name == "a":
            if opening is not None:
                yield _Link(opening, "".join(inside))
            opening = None if token.closing else token
            inside.clear()
        elif opening is not None:
            inside.append(_html_of(token))
        else:
            yield token


def _html_of(token: str | Tag | _Link) -> str:
    if isinstance(token, Tag):
        return f"<{'/' if token.closing else ''}{token.name}{token.attributes}>"
    return token if isinstance(token, str) else token.written()
