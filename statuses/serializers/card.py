"""The entities "PreviewCard" and "OEmbed" (contract, entities; oembed.com)."""

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.translation import gettext as _

from accounts.serializers.account import present_counted_accounts
from social.api.serializers import EntitySerializer
from social.kernel import clock, links
from social.kernel.http.addresses import as_uri
from social.kernel.media import storage
from social.kernel.text.names import visible_text
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
            "url": as_uri(instance.url),
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
    """Return the entities, keyed by the same ids as `cards`."""
    context = {"viewer_id": viewer_id, "authors": present_counted_accounts(cards.authors)}
    return {number: PreviewCardSerializer(shown, context=context).data for number, shown in cards.by_id.items()}


FRAME_WIDTH: Final = 400
_CACHE_SECONDS: Final = 86_400
# If scripts are disabled, the link is shown.
_EMBEDDED: Final = (
    '<blockquote class="mastodon-embed" data-embed-url="{}" style="max-width: {}px; min-width: 270px; margin: 0;'
    ' padding: 1em; border: 1px solid; border-radius: 8px;"><a href="{}" target="_blank" rel="noopener">{}</a>'
    '</blockquote><script src="{}" async></script>'
)


class OEmbedSerializer(EntitySerializer):
    """OEmbed, from the entity "Status". The context has `site_name`, and the frame's `width` and `height` (or None)."""

    def to_representation(self, instance: Mapping[str, Any]) -> dict[str, Any]:
        author, url = instance["account"], instance["url"]
        width: int = self.context["width"]
        label = _("Post by %(address)s") % {"address": f"@{author['username']}@{settings.LOCAL_DOMAIN}"}
        return {
            "type": "rich",
            "version": "1.0",
            "author_name": visible_text(author["display_name"]) or author["username"],
            "author_url": links.profile_url(author["username"]),
            "provider_name": self.context["site_name"],
            "provider_url": links.web_url("/"),
            "cache_age": _CACHE_SECONDS,
            "html": format_html(_EMBEDDED, f"{url}/embed", width, url, label, links.web_url(static("embed.js"))),
            "width": width,
            "height": self.context["height"],
        }
