"""Prepares texts for a translation service, and reads the service's answers. Only words are taken from an answer, never links
or HTML.
"""

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
"""Maximum number of characters in all texts of a post that is translated, because services charge by the character."""

_SHORTCODE_HTML: Final = '<span translate="no">:{}:</span>'
_WRAPPED_SHORTCODE: Final = re.compile(r'<span translate="no">(:[a-zA-Z0-9_]+:)</span>')


@dataclass(frozen=True, kw_only=True)
class Translation:
    """Translation of a post. `content` is safe HTML, the other texts are plain; `descriptions` are keyed by file id."""

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
    def is_untranslatable(self) -> bool:
        """Tell whether the link's text must not be translated because it is an address, a mention or a hashtag."""
        return not any(letter.isspace() for letter in plain(self.inner))

    def written(self, inner: str | None = None) -> str:
        return f"<a{self.opening.attributes}>{self.inner if inner is None else inner}</a>"


def prepare_html(html: str) -> str:
    """Return the HTML for a translation service: parts that must not be translated have `translate="no"`."""
    return "".join(_with_translate_mark(part) for part in _parts(html))


def restore_html(answer: str, html: str) -> str:
    """Convert a service's translation of `prepare_html(html)` to sanitised HTML with the links of `html`. Other links become
    text; addresses, mentions and hashtags that the translation lacks are appended.
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
            written.append(link.written(None if link.is_untranslatable else part.inner))
        else:
            written.append(part.inner)
    missing = [link.written() for left in links.values() for link in left if link.is_untranslatable]
    if missing:
        written.append(f"<p>{' '.join(missing)}</p>")
    return _WRAPPED_SHORTCODE.sub(r"\1", "".join(written))


def prepare_text(text: str) -> str:
    """Return a plain text as HTML for a translation service."""
    return _with_kept_emojis(entities.escape(text, quote=False)).replace("\n", "<br>")


def restore_text(answer: str) -> str:
    """Convert a service's translation of a text made by `prepare_text` back to plain text."""
    return plain(clean_input(answer))


def _with_translate_mark(part: str | Tag | _Link) -> str:
    if isinstance(part, str):
        return _with_kept_emojis(part)
    if isinstance(part, Tag):
        return _html_of(part)
    href = entities.escape(part.href)
    if part.is_untranslatable:
        return f'<a href="{href}" translate="no">{part.inner}</a>'
    return f'<a href="{href}">{"".join(map(_with_translate_mark, tokenise(part.inner)))}</a>'


def _with_kept_emojis(html: str) -> str:
    return SHORTCODE.sub(lambda found: _SHORTCODE_HTML.format(found[1]), html) if ":" in html else html


def _parts(html: str) -> Iterator[str | Tag | _Link]:
    """Yield the tokens of sanitised HTML, in which links are not nested; a link with its content is one part."""
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
