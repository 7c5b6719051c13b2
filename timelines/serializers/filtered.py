"""Shows a streamed post to a viewer who has filters."""

from __future__ import annotations

from datetime import datetime

import orjson

from social.kernel.text.searching import Text
from statuses.policies.filters import Filters
from statuses.serializers.status import searched_text_of
from timelines.stores.messages import Message

_NO_RESULTS = b'"filtered":[]'


def with_filters(message: Message, filters: Filters, moment: datetime) -> Message:
    """An event on a public stream as a viewer with these filters gets it: `filtered` of its post says which match.

    The same message when none does, or when it shows no post. Posts on public streams are no boosts. Reading a long post
    takes a while: never in an event loop.
    """
    if message.payload is None or _NO_RESULTS not in message.payload:
        return message
    if message.searched is None:
        entity = orjson.loads(message.payload)
        message.searched = int(entity["id"]), Text(searched_text_of(entity))
    number, text = message.searched
    results = filters.results(filters.search(text), [number], moment)
    if not results:
        return message
    # In a JSON document quotation marks inside a text are escaped: these bytes are the member and no text.
    shown = message.payload.replace(_NO_RESULTS, b'"filtered":%b' % orjson.dumps(results), 1)
    return Message(message.event, shown, message.facts, message.recipients)
