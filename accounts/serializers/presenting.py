"""How accounts become entities by way of encoded bodies that may be in the cache; counters are never cached."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import orjson

from accounts.queries.cards import Cards, load_cards
from accounts.serializers.account import EncodedAccount
from social.api.serializers import EntitySerializer
from social.kernel import fragments


class CardsSerializer(EntitySerializer):
    """The entities "Account" of Cards by id, encoded. `fresh` is what was encoded now and may be kept."""

    def to_representation(self, instance: Cards) -> dict[int, orjson.Fragment]:
        """All of them; an account that vanished while it was read is left out."""
        self.fresh: dict[str, bytes] = {}
        encoded = {key: EncodedAccount.unpacked(packed) for key, packed in instance.found.items()}
        for number, account in instance.missing.items():
            key = instance.cards[number].fragment_key
            encoded[key] = EncodedAccount.of(account, instance.emojis, instance.relations)
            if encoded[key].may_be_kept:
                self.fresh[key] = encoded[key].packed()
        return {
            number: orjson.Fragment(encoded[card.fragment_key].completed(number, card.stat, instance.relations))
            for number, card in instance.cards.items()
            if card.fragment_key in encoded
        }


def present_cards(cards: Cards) -> dict[int, orjson.Fragment]:
    """The entities by id; bodies encoded on the way are kept for the next page."""
    serializer = CardsSerializer(cards)
    entities = cast(dict[int, orjson.Fragment], serializer.data)
    fragments.save(serializer.fresh)
    return entities


def present_accounts(account_ids: Iterable[int], viewer_id: int | None) -> dict[int, orjson.Fragment]:
    """The entities of these accounts by id, each once and in their order; unknown ids are left out."""
    wanted = list(dict.fromkeys(account_ids))
    found = present_cards(load_cards(wanted, viewer_id))
    return {number: found[number] for number in wanted if number in found}
