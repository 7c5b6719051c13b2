"""Reads accounts as narrow rows, for entities whose bodies may be in the cache already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from accounts.models import Account
from accounts.policies.collections import Audience
from accounts.policies.relations import NOBODY, Relations
from accounts.queries.accounts import load_accounts
from accounts.queries.emojis import EmojiLookup
from accounts.queries.relations import load_featuring
from social.kernel import fragments
from social.kernel.statements import fetch

_CARDS: Final = """
SELECT a.id, a.version, COALESCE(s.followers_count, 0), COALESCE(s.following_count, 0), COALESCE(s.statuses_count, 0),
       to_char(s.last_status_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')
FROM accounts_account a LEFT JOIN accounts_accountstat s ON s.account_id = a.id
WHERE a.id = ANY((SELECT %(ids)s)::bigint[])
"""


# The first letter of a body in the cache: see `accounts.serializers.account.EncodedAccount`.
_FOLLOWERS: Final = Audience.FOLLOWERS[:1].encode()


def account_fragment_key(account_id: int, version: int) -> str:
    """The key of the encoded body of an account: one rule for every app that shows accounts."""
    return f"account:{account_id}:{version}"


@dataclass(slots=True)
class Stat:
    """An account's counters, as `accounts.serializers.account.EncodedAccount` reads them."""

    followers_count: int
    following_count: int
    statuses_count: int
    last_status_on: str | None


@dataclass(frozen=True, slots=True)
class Card:
    """An account's counters, and the key of its encoded body."""

    fragment_key: str
    stat: Stat


@dataclass(slots=True)
class Cards:
    """Accounts by id: cards for all, encoded bodies for those in the cache, whole rows for the others."""

    cards: dict[int, Card] = field(default_factory=dict)
    found: dict[str, bytes] = field(default_factory=dict)
    missing: dict[int, Account] = field(default_factory=dict)
    emojis: EmojiLookup = field(default_factory=lambda: EmojiLookup(()))
    relations: Relations = NOBODY


def approving(encoded: Mapping[int, bytes | None]) -> list[int]:
    """The ids of those accounts whose encoded bodies say that followers may feature them."""
    return [number for number, body in encoded.items() if body is not None and body.startswith(_FOLLOWERS)]


def load_cards(account_ids: Iterable[int], viewer_id: int | None) -> Cards:
    """What the entities of these accounts take: one query when every body is in the cache, else two or three more.

    One more for a viewer when a locked account is among them that may be featured by its followers.
    """
    wanted = list(set(account_ids))
    if not wanted:
        return Cards()
    cards = {
        number: Card(account_fragment_key(number, version), Stat(*stat))
        for number, version, *stat in fetch(_CARDS, {"ids": wanted})
    }
    found = fragments.load(card.fragment_key for card in cards.values())
    missing = load_accounts(number for number, card in cards.items() if card.fragment_key not in found)
    by_account = {number: found.get(card.fragment_key) for number, card in cards.items()}
    relations = load_featuring(viewer_id, missing.values(), approving(by_account))
    return Cards(cards, found, missing, EmojiLookup.for_accounts(missing.values()), relations)
