"""Chooses which link of a post gets a preview, and decides when the preview is fetched again (behaviours section 9 "Cards")."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta
from html import unescape
from typing import Final
from urllib.parse import unquote

from social.kernel import clock, links
from social.kernel.http.addresses import parse_url
from social.kernel.http.errors import Refused
from social.kernel.text.markup import Tag, tokenise
from social.kernel.text.names import normalise_domain
from statuses.models import PreviewCard
from statuses.models.card import URL_LIMIT

CARD_LIFETIME: Final = timedelta(days=14)
"""Time after which the preview of a page is fetched again."""
EMPTY_CARD_LIFETIME: Final = timedelta(days=1)
"""Time after which a page without a preview is fetched again."""

_MENTION_CLASSES: Final = frozenset({"mention", "hashtag", "u-url", "h-card"})
_SIGNS: Final = ("@", "#", "＠", "＃")
_QUOTE_CLASS: Final = "quote-inline"
_AUTHORITY_END: Final = re.compile(r"[/\\?#]")


def find_link(content: str) -> str | None:
    """Return the first link in a post's HTML that may have a preview, or None. Links to accounts, hashtags and this server,
    links in quotes, and links that `card_url` refuses are skipped.
    """
    found = ""
    text = ""
    in_quote = ""
    for token in tokenise(content):
        if isinstance(token, str):
            text += token if found else ""
        elif token.closing and token.name == in_quote:
            in_quote = ""
        elif not token.closing and _QUOTE_CLASS in token.read_attributes().get("class", "").split():
            in_quote = token.name
        elif token.name == "a":
            if found and not text.lstrip().startswith(_SIGNS):
                return found
            text, found = "", "" if token.closing or in_quote else _previewed_address(token)
    return None


def _previewed_address(link: Tag) -> str:
    attributes = link.read_attributes()
    url = "" if _is_mention_or_hashtag(attributes) else unescape(attributes.get("href", ""))
    return url if card_url(url) is not None else ""


def find_hosts(
    content: str, others: Iterable[str | None], *, home: Collection[str | None], people: Collection[str]
) -> list[str]:
    """Return the distinct hosts that a post links to: in its HTML, and through `others`, the addresses of its page and of files
    that clients show as links. Takes less than 0.1 s.

    Links to mentioned accounts (`people`) do not count, nor do links on the author's own hosts (`home`) to the post's page,
    mentions or hashtags. Links to other servers always count, because the author chooses which links are marked as mentions
    (security row 74).
    """
    found: dict[str | None, None] = {}
    for token in tokenise(content):
        if isinstance(token, str) or token.closing or token.name != "a":
            continue
        attributes = token.read_attributes()
        url = unescape(attributes.get("href", ""))
        host = _host_of(url)
        if url not in people and not (host in home and _is_mention_or_hashtag(attributes)):
            found.setdefault(host)
    for other in others:
        host = _host_of(other or "")
        if host not in home:
            found.setdefault(host)
    return [host for host in found if host]


def home_of(domain: str | None, uri: str) -> set[str | None]:
    """Return the hosts of an author's server, from the domain and the ActivityPub id of the author."""
    return {domain, _host_of(uri)}


def _is_mention_or_hashtag(attributes: Mapping[str, str]) -> bool:
    kinds = {*attributes.get("class", "").split(), *attributes.get("rel", "").split()}
    return "tag" in kinds or not kinds.isdisjoint(_MENTION_CLASSES)


def _host_of(url: str) -> str | None:
    """Return the host that browsers open for a link, even if this server would refuse the link (WHATWG URL Standard, section
    4.4): user names, escapes, full-width letters and a final dot cannot hide a host from a rule (security row 74).
    """
    try:
        return parse_url(url).host.written
    except Refused:
        authority = _AUTHORITY_END.split(url.partition("//")[2], maxsplit=1)[0]
        return normalise_domain(unquote(authority.rpartition("@")[2]))


def card_url(url: str) -> str | None:
    """Return the address under which a link's preview is stored, without fragment and with a lower-case host; None if the link
    has another scheme, is too long or leads to this server.
    """
    try:
        target = parse_url(url)
    except Refused:
        return None
    own = links.is_own_domain(target.netloc) or links.is_own_domain(target.host.written)
    return None if own or len(target.url) > URL_LIMIT else target.url


def host_of(url: str) -> str:
    """Return the host of an address that `card_url` has returned."""
    return parse_url(url).netloc


def is_stale(card: PreviewCard) -> bool:
    """Tell whether the page must be fetched (again) when a post links to it."""
    if card.fetched_at is None:
        return True
    return clock.now() - card.fetched_at > (CARD_LIFETIME if card.is_shown else EMPTY_CARD_LIFETIME)
