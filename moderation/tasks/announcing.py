"""Sends announcements, and reactions to them, to open streams."""

from collections.abc import Sequence

import orjson

from moderation.events import AnnouncementPublished, AnnouncementReactionChanged, AnnouncementWithdrawn
from moderation.queries.announcements import Reaction, list_shown, load_reactions, show
from moderation.serializers.announcement import ReactionSerializer, present_announcements
from timelines.services.broadcasting import broadcast_to_everybody
from timelines.stores.messages import Event


def stream_announcements(events: Sequence[AnnouncementPublished]) -> None:
    """Send each announcement that is still shown to all open streams, without the data of a viewer."""
    rows = list_shown().filter(id__one_of=[event.announcement_id for event in events])
    for entity in present_announcements(show(list(rows), None)):
        broadcast_to_everybody(Event.ANNOUNCEMENT, orjson.dumps(entity))


def stream_withdrawals(events: Sequence[AnnouncementWithdrawn]) -> None:
    """Send the id of each announcement that is no longer shown."""
    ids = [event.announcement_id for event in events]
    shown_ids = set(list_shown().filter(id__one_of=ids).values_list("id", flat=True))
    for number in ids:
        if number not in shown_ids:
            broadcast_to_everybody(Event.ANNOUNCEMENT_DELETE, str(number).encode())


def stream_reactions(events: Sequence[AnnouncementReactionChanged]) -> None:
    """Send the current number of reactions to an announcement with an emoji; 0 if the last reaction was removed."""
    for number, name in dict.fromkeys((event.announcement_id, event.name) for event in events):
        reactions = load_reactions([number], None, name=name)[number]
        entity = ReactionSerializer(reactions[0] if reactions else Reaction(name, 0)).data
        broadcast_to_everybody(Event.ANNOUNCEMENT_REACTION, orjson.dumps(entity | {"announcement_id": str(number)}))
