"""Renders a text of this server as HTML.

The HTML is specified in the contract, behaviours section 8; clients parse it (client trap 48).
"""

import html
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import regex

from social.kernel.text.scan import Kind, Token

SHOWN_URL_LENGTH: Final = 30  # length of the visible part of an address after its prefix, in characters

_BLANK_LINES: Final = regex.compile(r"\n(?:[^\S\n]*+\n)++")
_LINE_ENDS: Final = regex.compile(r"\r\n?")
_REL: Final = "nofollow noopener"
# Case-sensitive: the prefix is hidden only in this spelling; any other prefix is shown.
_PREFIX: Final = regex.compile(r"https?+://(?:www\.)?+|xmpp:")


@dataclass(frozen=True, slots=True)
class MentionTarget:
    """An account that a text may mention: its name, its `acct` (no domain for a local account), its page."""

    username: str
    acct: str
    url: str


def to_html(
    tokens: Sequence[Token],
    *,
    mentions: Mapping[str, MentionTarget],
    hashtag_url: Callable[[str], str],
    profile_field: bool = False,
    quote_url: str | None = None,
) -> str:
    """Render the tokens of a text. Everything that comes from the text is escaped; blank text becomes an empty string.

    `mentions` holds the accounts found, keyed by `Token.acct`; other mentions stay text. `hashtag_url` returns the address for
    the name of a hashtag; the hashtag is shown as written. A `profile_field` is one line without a paragraph; its links have
    `me` in their `rel`, and its mentions show the domain. `quote_url` adds a line before the text, for clients that do not
    support quotes, unless the text has that address itself.
    """
    render = _Renderer(tokens, mentions, hashtag_url, profile_field)
    body = "".join(map(render.token, tokens))
    if profile_field:
        return body.replace("\n", " ").strip()
    return quote_fallback(tokens, quote_url) + _in_paragraphs(body)


def plain_to_html(text: str) -> str:
    """Return a text as HTML paragraphs and lines; nothing in it becomes a link."""
    return _in_paragraphs(_escape(text))


def _in_paragraphs(html: str) -> str:
    html = html.strip("\n")
    if not html or html.isspace():
        return ""
    return "".join("<p>" + paragraph.replace("\n", "<br />") + "</p>" for paragraph in _BLANK_LINES.split(html))


QUOTE_FALLBACK: Final = re.compile(r'<p class="quote-inline">.*?</p>', re.DOTALL)
"""Pattern of the line that `quote_fallback` writes, in the HTML of local and remote posts."""


def quote_fallback(tokens: Sequence[Token], quote_url: str | None) -> str:
    """Return the line with the address of a quoted post, for clients without quotes; empty if the text has the address."""
    if quote_url is None or any(token.kind is Kind.URL and token.raw == quote_url for token in tokens):
        return ""
    return f'<p class="quote-inline">RE: {_link(quote_url, _REL)}</p>'


def token_writer(
    tokens: Sequence[Token], mentions: Mapping[str, MentionTarget], hashtag_url: Callable[[str], str]
) -> Callable[[Token], str]:
    """Return a function that renders one of the `tokens` of a text, for texts in another format (Markdown)."""
    return _Renderer(tokens, mentions, hashtag_url, profile_field=False).token


class _Renderer:
    def __init__(
        self,
        tokens: Sequence[Token],
        mentions: Mapping[str, MentionTarget],
        hashtag_url: Callable[[str], str],
        profile_field: bool,
    ) -> None:
        self.mentions = mentions
        self.hashtag_url = hashtag_url
        self.rel = f"{_REL} me" if profile_field else _REL
        found = {mentions[token.acct] for token in tokens if token.kind is Kind.MENTION and token.acct in mentions}
        self.names = Counter(target.username.lower() for target in found)
        self.always_domain = profile_field

    def token(self, token: Token) -> str:
        match token.kind:
            case Kind.URL:
                return _link(token.raw, self.rel)
            case Kind.MENTION if token.acct in self.mentions:
                return self.mention(self.mentions[token.acct])
            case Kind.HASHTAG:
                url = _escape_value(self.hashtag_url(token.name))
                return f'<a href="{url}" class="mention hashtag" rel="tag">#<span>{_escape(token.name)}</span></a>'
            case Kind.TEXT if "\r" in token.raw:
                return _escape(_LINE_ENDS.sub("\n", token.raw))
            case _:
                return _escape(token.raw)

    def mention(self, target: MentionTarget) -> str:
        shared = self.names[target.username.lower()] > 1
        name = target.acct if shared or self.always_domain else target.username
        return mention_link(target.url, name)


def mention_link(url: str, name: str) -> str:
    """Return the HTML link of a mention; `name` comes without its `@`."""
    return (
        f'<span class="h-card" translate="no"><a href="{_escape_value(url)}" class="u-url mention">'
        f"@<span>{_escape(name)}</span></a></span>"
    )


def _link(url: str, rel: str) -> str:
    prefix = match[0] if (match := _PREFIX.match(url)) else ""
    shown, rest = url[len(prefix) :][:SHOWN_URL_LENGTH], url[len(prefix) + SHOWN_URL_LENGTH :]
    if len(rest) == 1:
        # A single remaining character is shown, because an ellipsis would take as much room.
        shown, rest = shown + rest, ""
    hidden = '<span class="invisible">'
    return (
        f'<a href="{_escape_value(url)}" target="_blank" rel="{rel}" translate="no">{hidden}{_escape(prefix)}</span>'
        f'<span class="{"ellipsis" if rest else ""}">{_escape(shown)}</span>{hidden}{_escape(rest)}</span></a>'
    )


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace('"', "&quot;").replace("'", "&#39;")


def _escape_value(value: str) -> str:
    # Line ends are escaped too, because the body is cut into paragraphs at line ends, and no line end may be inside a tag.
    return _escape(value).replace("\r", "&#13;").replace("\n", "&#10;")
