"""The entities Conversation, List, Marker, Search and Trends::Link (contract, entities), and streamed posts with filters."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from accounts.serializers.account import present_accounts
from accounts.serializers.tag import DayOfUseSerializer
from social.api.serializers import EntitySerializer
from social.kernel import clock
from social.kernel.text.searching import Text
from statuses.models import PreviewCard
from statuses.policies.filters import Filters
from statuses.queries.cards import load_shown_cards
from statuses.queries.page import hydrate
from statuses.serializers.card import present_cards
from statuses.serializers.presenting import present_by_id
from statuses.serializers.status import searched_text_of
from timelines.models import Conversation, List, Marker
from timelines.queries.trends import load_link_histories
from timelines.stores.messages import Event, Message


class ConversationSerializer(EntitySerializer):
    """Conversation with its other participants. The context has the `accounts` and `statuses` that may be shown, by id."""

    def to_representation(self, instance: Conversation) -> dict[str, Any]:
        accounts = self.context["accounts"]
        people = instance.participants or [instance.account_id]
        return {
            "id": str(instance.id),
            "unread": instance.unread,
            "accounts": [accounts[number] for number in people if number in accounts],
            "last_status": self.context["statuses"].get(instance.last_status_id),
        }


def present_conversations(conversations: Sequence[Conversation], viewer_id: int) -> list[Any]:
    """Return the entities of the viewer's own conversations, in the given order, with a constant number of queries."""
    people = {number for one in conversations for number in (one.participants or [one.account_id])}
    context = {
        "accounts": present_accounts(sorted(people), viewer_id),
        "statuses": present_by_id(hydrate([one.last_status_id for one in conversations], viewer_id)),
    }
    entities: list[Any] = ConversationSerializer(list(conversations), many=True, context=context).data
    return entities


class ListSerializer(EntitySerializer):
    """List, which only its owner can see."""

    def to_representation(self, instance: List) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "title": instance.title,
            "replies_policy": instance.replies_policy,
            "exclusive": instance.exclusive,
        }


class MarkersSerializer(EntitySerializer):
    """Markers by the name of their timeline; timelines without a marker are left out."""

    def to_representation(self, instance: Sequence[Marker]) -> dict[str, Any]:
        return {
            marker.timeline: {
                "last_read_id": str(marker.last_read_id),
                "version": marker.version,
                "updated_at": clock.iso(marker.updated_at),
            }
            for marker in instance
        }


@dataclass(frozen=True)
class Results:
    """Search results: presented entities by kind."""

    accounts: list[Any] = field(default_factory=list)
    statuses: list[Any] = field(default_factory=list)
    hashtags: list[Any] = field(default_factory=list)
    collections: list[Any] = field(default_factory=list)


class SearchSerializer(EntitySerializer):
    def to_representation(self, instance: Results) -> dict[str, Any]:
        """Return the entity with all four lists, whichever kinds were requested."""
        return {
            "accounts": instance.accounts,
            "statuses": instance.statuses,
            "hashtags": instance.hashtags,
            "collections": instance.collections,
        }


class TrendingLinkSerializer(EntitySerializer):
    """Trends::Link: a preview card with the history of links to its page. The context has `cards`, by id, and `histories`."""

    def to_representation(self, instance: PreviewCard) -> dict[str, Any]:
        entity: dict[str, Any] = self.context["cards"][instance.id]
        return entity | {"history": DayOfUseSerializer(self.context["histories"][instance.id], many=True).data}


def present_trending_links(cards: Sequence[PreviewCard], viewer_id: int | None) -> list[Any]:
    """Return the entities of these cards, in the given order, with a constant number of queries."""
    shown = [card for card in cards if card.is_shown]
    if not shown:
        return []
    context = {
        "cards": present_cards(load_shown_cards(shown, viewer_id), viewer_id),
        "histories": load_link_histories([card.id for card in shown]),
    }
    entities: list[Any] = TrendingLinkSerializer(shown, many=True, context=context).data
    return entities


def with_filters(message: Message, filters: Filters, moment: datetime) -> Message:
    """Return an event of a public stream for a viewer with these filters: the matching filters are added to the post as
    `filtered`.

    The message is returned unchanged if no filter matches or if it contains no post; posts on public streams are never boosts.
    Filtering a long post takes a while, so never call this in an event loop.
    """
    if message.payload is None or message.event not in (Event.UPDATE, Event.STATUS_UPDATE):
        return message
    if message.searched is None:
        entity = orjson.loads(message.payload)
        message.searched = entity, Text(searched_text_of(entity))
    entity, text = message.searched
    results = filters.results(filters.search(text), [int(entity["id"])], moment)
    if not results:
        return message
    shown = orjson.dumps(entity | {"filtered": results})
    return Message(message.event, shown, message.facts, message.recipients)
