"""Parses the text of a local author, before any transaction, because other servers may be asked for mentioned accounts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from accounts.models import Account
from accounts.models.tag import TAG_LIMIT
from accounts.ports import remote_accounts
from accounts.queries.accounts import by_address, split_address
from accounts.queries.relations import load_relations
from social.kernel import links
from social.kernel.text import markdown
from social.kernel.text.markup import plain
from social.kernel.text.names import clean_input, normalise_hashtag
from social.kernel.text.scan import Kind, Token, scan, web_links
from social.kernel.text.to_html import MentionTarget, to_html
from statuses.policies.publishing import MARKDOWN, PLAIN_TEXT

Address = tuple[str, str | None]
# Characters stripped from both ends of a text. Other space characters belong to the text, because some scripts need them.
_SPACES: Final = " \t\n\v\f\r"


@dataclass(frozen=True)
class Formatted:
    """A formatted text: `text` is its stored form, with mentions by full address, and `content` is its HTML. `tags` are pairs
    (normalised hashtag, hashtag as written), in the order of the text; `links` are the text's links to web pages.
    """

    text: str
    content: str
    mentions: tuple[Account, ...]
    tags: tuple[tuple[str, str], ...]
    links: tuple[str, ...]


class _PlainText:
    """Plain text, with the interface of `markdown.Document`."""

    def __init__(self, text: str) -> None:
        self.tokens = scan(text)
        self.links = web_links(self.tokens)

    def html(
        self, *, mentions: Mapping[str, MentionTarget], hashtag_url: Callable[[str], str], quote_url: str | None = None
    ) -> str:
        return to_html(self.tokens, mentions=mentions, hashtag_url=hashtag_url, quote_url=quote_url)


def format_text(
    text: str, author: Account, quote_url: str | None = None, *, content_type: str = PLAIN_TEXT
) -> Formatted:
    """Return the text in its stored form and as HTML. The HTML of a quote begins with a link to `quote_url`, unless the text
    contains that link. Mentions of blocked, suspended and unknown accounts stay plain text. Markdown that would show nothing is
    treated as plain text.
    """
    document = _read(text, content_type)
    mentioned = _find_mentioned(document.tokens, author)
    targets = {
        acct: MentionTarget(account.username, account.acct, account.page_url) for acct, account in mentioned.items()
    }
    return Formatted(
        text=text if content_type == MARKDOWN else "".join(_canonical(token, mentioned) for token in document.tokens),
        content=document.html(mentions=targets, hashtag_url=links.tag_url, quote_url=quote_url),
        mentions=tuple({account.id: account for account in mentioned.values()}.values()),
        tags=_tags(document.tokens),
        links=document.links,
    )


def _read(text: str, content_type: str) -> markdown.Document | _PlainText:
    if content_type == MARKDOWN:
        document = markdown.read(text)
        if not text or plain(document.html(mentions={}, hashtag_url=links.tag_url)).strip():
            return document
    return _PlainText(text)


def stripped(text: str) -> str:
    """Remove invisible characters and surrounding space from a client's text."""
    return clean_input(text).strip(_SPACES)


def _find_mentioned(tokens: Iterable[Token], author: Account) -> dict[str, Account]:
    # Keyed by the `acct` of the token, in the order of the text.
    addresses: dict[str, Address] = {}
    for token in tokens:
        if token.kind is Kind.MENTION and token.acct not in addresses:
            address = split_address(token.acct)
            if address is not None:
                addresses[token.acct] = address
    if not addresses:
        return {}
    accounts: dict[Address, Account] = dict(by_address(set(addresses.values())))
    accounts |= _find_remote({address for address in addresses.values() if address not in accounts})
    relations = load_relations(author.id, [account.id for account in accounts.values()])
    return {
        acct: account
        for acct, address in addresses.items()
        if (account := accounts.get(address)) is not None
        and not account.suspended
        and account.id not in relations.blocking
        and account.id not in relations.domain_blocking
    }


def _find_remote(unknown: Iterable[Address]) -> Mapping[Address, Account]:
    addresses = [(username, domain) for username, domain in unknown if domain is not None]
    port = remote_accounts.find()
    if port is None or not addresses:
        return {}
    return dict(port.find_by_address(addresses).items())


def _canonical(token: Token, mentioned: Mapping[str, Account]) -> str:
    # A mention becomes the account's `acct`, however the author typed it (behaviours section 8).
    if token.kind is Kind.MENTION and token.acct in mentioned:
        return f"@{mentioned[token.acct].acct}"
    return token.raw


def _tags(tokens: Iterable[Token]) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for token in tokens:
        if token.kind is Kind.HASHTAG:
            found.setdefault(normalise_hashtag(token.name), token.name)
    return tuple((name, spelling) for name, spelling in found.items() if 0 < len(name) <= TAG_LIMIT)
