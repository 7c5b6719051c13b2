"""Publishes to open streams what a mute or a block takes out of feeds (contract, behaviours section 16, event `delete`)."""

from __future__ import annotations

from collections.abc import Collection

from accounts.queries.relations import load_hiding
from statuses.queries.rows import load_rows
from timelines.policies.home import involved_ids
from timelines.services.broadcasting import broadcast_deletions
from timelines.stores import channels
from timelines.stores.audience import subscribed_channels


def withdraw_hidden_posts(reader_id: int, status_ids: Collection[int], *, list_id: int | None = None) -> None:
    """Delete from the reader's home stream, or that of a list, those of the posts in which somebody has a part whom the
    reader blocks or mutes, or who blocks the reader.

    To be called by whoever takes posts out of a feed that belong into it no more. Nothing is read unless somebody listens.
    """
    channel = channels.home(reader_id) if list_id is None else channels.of_list(list_id)
    if not status_ids or not subscribed_channels([channel]):
        return
    people = {row.id: involved_ids(row) for row in load_rows(status_ids)}
    relations = load_hiding(reader_id, {person for some in people.values() for person in some})
    hidden = {*relations.blocking, *relations.muting, *relations.blocked_by}
    gone = [status_id for status_id, some in people.items() if not hidden.isdisjoint(some)]
    if list_id is None:
        broadcast_deletions({status_id: [reader_id] for status_id in gone}, {})
    else:
        broadcast_deletions({}, {}, {status_id: [list_id] for status_id in gone})
