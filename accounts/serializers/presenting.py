"""Knows how accounts become entities by way of encoded bodies that may be in the cache; counters are never cached."""

from __future__ import annotations

from typing import cast

import orjson

from accounts.models import Account
from accounts.queries.cards import Cards
from accounts.serializers.account import Piece
from social.api.serializers import EntitySerializer
from social.kernel import fragments


class CardsSerializer(EntitySerializer):
    """The entities "Account" of Cards by id, encoded. `fresh` is what was encoded now and may be kept."""

    def to_representation(self, instance: Cards) -> dict[int, orjson.Fragment]:
        """All of them; an account that vanished while it was read is left out."""
        self.fresh: dict[str, bytes] = {}
        pieces = {key: Piece.unpacked(piece) for key, piece in instance.found.items()}
        for number, account in instance.missing.items():
            key = instance.cards[number].piece
            pieces[key] = Piece.of(account, instance.emojis, instance.relations)
            if account.moved_to_id is None:
                # One that moved shows another account, its counters included: that is not kept.
                self.fresh[key] = pieces[key].packed()
        return {
            number: orjson.Fragment(pieces[card.piece].completed(number, cast(Account, card), instance.relations))
            for number, card in instance.cards.items()
            if card.piece in pieces
        }


def present_cards(cards: Cards) -> dict[int, orjson.Fragment]:
    """The entities by id; bodies encoded on the way are kept for the next page."""
    serializer = CardsSerializer(cards)
    entities = cast(dict[int, orjson.Fragment], serializer.data)
    fragments.save(serializer.fresh)
    return entities
