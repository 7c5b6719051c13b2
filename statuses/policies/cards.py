"""Chooses the link of a post that has a preview, and says when the preview is fetched again (contract, behaviours
section 9 "Cards").
"""

from __future__ import annotations

from datetime import timedelta
from html import unescape
from typing import Final

from social.kernel import clock, links
from social.kernel.http.addresses import parse_url
from social.kernel.http.errors import Refused
from social.kernel.text.markup import Tag, tokenise
from statuses.models import PreviewCard
from statuses.models.card import URL_LIMIT

CARD_LIFETIME: Final = timedelta(days=14)
"""Lifetime of what a page said."""
EMPTY_CARD_LIFETIME: Final = timedelta(days=1)
"""Time in which a page that said nothing is left alone."""

HOSTS_LIMIT: Final = 100
"""Hosts of one post that are looked at."""

_MENTION_CLASSES: Final = frozenset({"mention", "hashtag", "u-url", "h-card"})
_SIGNS: Final = ("@", "#", "＠", "＃")
_QUOTE_CLASS: Final = "quote-inline"


def find_link(content: str) -> str | None:
    """The first link of a post's HTML that may have a preview, as it stands there.

    Links to people, hashtags, this server and what `card_url` refuses are passed over.
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
            text, found = "", "" if token.closing or in_quote else _address(token)
    return None


def _address(link: Tag) -> str:
    """Address that a link leads to; empty for one without a preview."""
    attributes = link.read_attributes()
    kinds = {*attributes.get("class", "").split(), *attributes.get("rel", "").split()}
    if "tag" in kinds or not kinds.isdisjoint(_MENTION_CLASSES):
        return ""
    url = unescape(attributes.get("href", ""))
    return url if card_url(url) is not None else ""


def find_hosts(content: str) -> list[str]:
    """The hosts that a post's HTML links to, each once, at most HOSTS_LIMIT; links to people and hashtags do not count."""
    found: dict[str, None] = {}
    for token in tokenise(content):
        if isinstance(token, str) or token.closing or token.name != "a" or len(found) >= HOSTS_LIMIT:
            continue
        attributes = token.read_attributes()
        kinds = {*attributes.get("class", "").split(), *attributes.get("rel", "").split()}
        if "tag" in kinds or not kinds.isdisjoint(_MENTION_CLASSES):
            continue
        try:
            found.setdefault(parse_url(unescape(attributes.get("href", ""))).host.written)
        except Refused:
            continue
    return list(found)


def card_url(url: str) -> str | None:
    """The address under which the preview of a link is kept; None for what has none: of another scheme, too long, ours.

    Addresses that differ in their fragment alone, or in the letters of their host, share a preview.
    """
    try:
        target = parse_url(url)
    except Refused:
        return None
    own = links.is_own_domain(target.netloc) or links.is_own_domain(target.host.written)
    return None if own or len(target.url) > URL_LIMIT else target.url


def host_of(url: str) -> str:
    """The server of an address that `card_url` gave."""
    return parse_url(url).netloc


def is_stale(card: PreviewCard) -> bool:
    """Tell whether the page is to be fetched (again) when a post links to it."""
    if card.fetched_at is None:
        return True
    return clock.now() - card.fetched_at > (CARD_LIFETIME if card.is_shown else EMPTY_CARD_LIFETIME)
