"""The entity "PreviewCard" (contract, entities)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.utils.html import format_html

from accounts.serializers.account import present_counted_accounts
from social.api.serializers import EntitySerializer
from social.kernel import clock
from social.kernel.media import storage
from statuses.models import CardType, PreviewCard
from statuses.queries.cards import ShownCard, ShownCards

# The frame is built from the address alone and is sandboxed (security row 2).
_FRAME: Final = (
    '<iframe src="{}" width="{}" height="{}" sandbox="allow-scripts allow-same-origin allow-popups allow-presentation"'
    ' referrerpolicy="strict-origin-when-cross-origin" allowfullscreen></iframe>'
)
_WIDTH: Final = 640
_HEIGHT: Final = 360


class PreviewCardSerializer(EntitySerializer):
    """PreviewCard. The context has `viewer_id`, and `authors`, entities of accounts by id."""

    def to_representation(self, instance: ShownCard) -> dict[str, Any]:
        card = instance.card
        viewer_id: int | None = self.context["viewer_id"]
        image = storage.url(card.image) if card.image else None
        entity: dict[str, Any] = {
            "url": instance.url,
            "title": card.title,
            "description": card.description,
            "language": card.language,
            "type": card.type,
            "author_name": card.author_name,
            "author_url": card.author_url,
            "provider_name": card.provider_name,
            "provider_url": card.provider_url,
            "html": _frame(card),
            "width": card.width,
            "height": card.height,
            "image": image,
            "image_description": card.image_description,
            "embed_url": image if image is not None and card.type == CardType.PHOTO else "",
            "blurhash": card.blurhash,
            "published_at": clock.iso_or_none(card.published_at),
            "authors": self._authors(instance),
        }
        if viewer_id is not None:
            entity["missing_attribution"] = instance.claimed_by == viewer_id
        return entity

    def _authors(self, instance: ShownCard) -> list[dict[str, Any]]:
        accounts: Mapping[int, dict[str, Any]] = self.context["authors"]
        account = accounts.get(instance.author_id) if instance.author_id is not None else None
        card = instance.card
        if account is None and not card.author_name and not card.author_url:
            return []
        return [{"name": card.author_name, "url": card.author_url, "account": account}]


def _frame(card: PreviewCard) -> str:
    if not card.player_url:
        return ""
    return format_html(_FRAME, card.player_url, card.width or _WIDTH, card.height or _HEIGHT)


def present_cards(cards: ShownCards, viewer_id: int | None) -> dict[int, dict[str, Any]]:
    """Return the entities by the ids of `cards`."""
    context = {"viewer_id": viewer_id, "authors": present_counted_accounts(cards.authors)}
    return {number: PreviewCardSerializer(shown, context=context).data for number, shown in cards.by_id.items()}
