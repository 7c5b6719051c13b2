"""Applies a viewer's filters to a streamed post."""

from __future__ import annotations

from datetime import datetime

import orjson

from social.kernel.text.searching import Text
from statuses.policies.filters import Filters
from statuses.serializers.status import searched_text_of
from timelines.stores.messages import Event, Message


def with_filters(message: Message, filters: Filters, moment: datetime) -> Message:
    """Return an event of a public stream for a viewer with these filters: the member `filtered` of its post lists the
    matching ones.

    The message is returned unchanged if no filter matches or if it contains no post; posts on public streams are never boosts.
    Reading a long post takes a while: never call this in an event loop.
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
