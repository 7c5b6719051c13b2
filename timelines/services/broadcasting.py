"""Publishes to streams: posts, deletions, and messages that make streaming processes reload or close connections.

Everything here is best effort, as PUBLISH is: who is not connected gets nothing, and reads the timeline instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import orjson

from accounts.queries.relations import load_relations_of
from social.kernel import clock, streams
from statuses.queries.marks import Marks, load_marks
from statuses.queries.page import fill, of_rows, related_ids
from statuses.queries.rows import Row
from statuses.serializers.presenting import present
from timelines.policies.public import in_public_timeline, in_tag_timelines
from timelines.queries.public import load_public_facts
from timelines.stores import channels
from timelines.stores.audience import subscribed_channels
from timelines.stores.messages import KILL, Event, Facts, Message, Withdrawn, deletion, status_event

# A signed-in reader who has nothing to do with the post: ids of accounts begin far above.
_ANY_READER: Final = 0
_UNMARKED: Final = Marks()
_RECIPIENTS_PER_MESSAGE: Final = 500

REAL_TIME: Final = timedelta(hours=6)
"""Older posts are not published to streams, such as a fetched thread or posts that waited long for a worker; edits are."""


def broadcast_posts(
    rows: Sequence[Row],
    readers: Mapping[int, Collection[int]],
    event: Event = Event.UPDATE,
    *,
    lists: Mapping[int, Collection[tuple[int, int]]] | None = None,
    to_public: bool = True,
) -> None:
    """Publish posts to streams: the home streams of `readers` (accounts by post), those of `lists` (by post, each with its
    owner) and the public ones they belong to.

    Subscriptions are read first; a post without subscribers is not encoded. It is encoded once for all
    readers, and once more for each of the few who have marked it, or wrote it. New posts that are older than REAL_TIME
    are left out.
    """
    live_since = (clock.now() - REAL_TIME).timestamp() * 1000
    rows = [row for row in rows if event is not Event.UPDATE or row.created_ms >= live_since]
    public = [row for row in rows if to_public and in_tag_timelines(row)]
    facts = load_public_facts([row.id for row in public])
    public_channels = {row.id: _public_channels(row, facts[row.id][1]) for row in public if row.id in facts}
    names = {name for found in public_channels.values() for name in found}
    homes = {account: channels.home(account) for found in readers.values() for account in found}
    of_lists = {found: channels.of_list(found[0]) for some in (lists or {}).values() for found in some}
    subscribed = subscribed_channels([*names, *homes.values(), *of_lists.values()])
    listening = {
        row.id: [account for account in readers.get(row.id, ()) if homes[account] in subscribed] for row in rows
    }
    open_lists = {
        row.id: [found for found in (lists or {}).get(row.id, ()) if of_lists[found] in subscribed] for row in rows
    }
    wanted = [
        row
        for row in rows
        if listening[row.id] or open_lists[row.id] or not subscribed.isdisjoint(public_channels.get(row.id, ()))
    ]
    if not wanted:
        return
    bodies = _Bodies(
        wanted,
        {account for row in wanted for account in (*listening[row.id], *(owner for _id, owner in open_lists[row.id]))},
    )
    for row in wanted:
        _publish_to_homes(row, listening[row.id], bodies, event)
        for list_id, owner in open_lists[row.id]:
            body = bodies.special(row, owner) or bodies.common(row)
            streams.publish(channels.of_list(list_id), status_event(event, body).encode())
        for name in public_channels.get(row.id, ()):
            if name in subscribed:
                streams.publish(name, status_event(event, bodies.common(row), facts=_facts(row, facts)).encode())


def broadcast_to_mentioned(rows: Sequence[Row], readers: Mapping[int, Collection[int]], event: Event) -> None:
    """Publish posts to the `user:notification` streams of accounts (by post) that may read them."""
    names = {account: channels.notifications(account) for found in readers.values() for account in found}
    subscribed = subscribed_channels(names.values())
    listening = {row.id: [one for one in readers.get(row.id, ()) if names[one] in subscribed] for row in rows}
    wanted = [row for row in rows if listening[row.id]]
    if not wanted:
        return
    bodies = _Bodies(wanted, {account for row in wanted for account in listening[row.id]})
    for row in wanted:
        for account in listening[row.id]:
            body = bodies.special(row, account) or bodies.common(row)
            streams.publish(names[account], status_event(event, body).encode())


class _Bodies:
    """Encoded entities of posts: one for every ordinary reader, others for who has a mark on the post, wrote it, or is
    related to who decides how it looks.
    """

    def __init__(self, rows: Sequence[Row], readers: Collection[int]) -> None:
        self._page = fill(of_rows(rows, _ANY_READER))
        self._marks = load_marks(readers, self._page.posts, self._page.polls)
        self._relations = load_relations_of(readers, {number for row in rows for number in related_ids(row)})
        self._common = dict(zip(self._page.ids, map(orjson.dumps, present(self._page)), strict=True))

    def common(self, row: Row) -> bytes:
        """For readers without marks."""
        return self._common[row.id]

    def special(self, row: Row, reader: int) -> bytes | None:
        """For this reader alone; None when the common one is right."""
        marks = self._marks.get(reader, _UNMARKED)
        relations = self._relations.get(reader)
        concerned = {row.account_id, row.proper.account_id}
        for quoted in row.quotes:
            concerned |= {quoted.account_id, *quoted.addressed_ids}
        marked = any(marks.concern(part.id) for part in (row.proper, *row.quotes))
        if reader not in concerned and not marked and not (relations is not None and related_ids(row)):
            return None
        return orjson.dumps(present(self._page.seen_by(reader, row, marks, relations))[0])


def _publish_to_homes(row: Row, accounts: Iterable[int], bodies: _Bodies, event: Event) -> None:
    ordinary: list[int] = []
    for account in accounts:
        special = bodies.special(row, account)
        if special is None:
            ordinary.append(account)
        else:
            streams.publish(channels.home(account), status_event(event, special).encode())
    for start in range(0, len(ordinary), _RECIPIENTS_PER_MESSAGE):
        recipients = ordinary[start : start + _RECIPIENTS_PER_MESSAGE]
        streams.publish(channels.HOMES, status_event(event, bodies.common(row), recipients=recipients).encode())


def _public_channels(row: Row, tags: Iterable[str]) -> list[str]:
    found = [channels.hashtag(name) for name in tags]
    if in_public_timeline(row):
        found.append(channels.PUBLIC_LOCAL if row.local else channels.PUBLIC_REMOTE)
    return found


def _facts(row: Row, facts: Mapping[int, tuple[bool, list[str]]]) -> Facts:
    quoted = row.proper.quoted
    return Facts(
        row.account_id,
        frozenset(row.addressed_ids),
        row.language,
        facts[row.id][0],
        row.domain,
        quoted_id=None if quoted is None else quoted.account_id,
        quoted_domain=None if quoted is None else quoted.domain,
    )


def broadcast_deletions(
    readers: Mapping[int, Collection[int]],
    public: Mapping[int, Withdrawn],
    lists: Mapping[int, Collection[int]] | None = None,
) -> None:
    """Publish deletions to streams: the home streams of `readers` (accounts by post), those of `lists` (by post), and every
    public and hashtag stream that may have shown them for the posts in `public`.
    """
    tags = {status_id: found for status_id, (_media, found) in load_public_facts(list(public)).items()}
    homes = {account: channels.home(account) for found in readers.values() for account in found}
    public_channels = {
        status_id: [
            channels.PUBLIC_LOCAL if withdrawn.local else channels.PUBLIC_REMOTE,
            *(channels.hashtag(name) for name in tags.get(status_id, ())),
        ]
        for status_id, withdrawn in public.items()
    }
    other_channels = {status_id: [*map(channels.of_list, found)] for status_id, found in (lists or {}).items()}
    for status_id, names in public_channels.items():
        other_channels.setdefault(status_id, []).extend(names)
    subscribed = subscribed_channels([*homes.values(), *{name for found in other_channels.values() for name in found}])
    for status_id, accounts in readers.items():
        recipients = [account for account in accounts if homes[account] in subscribed]
        for start in range(0, len(recipients), _RECIPIENTS_PER_MESSAGE):
            message = deletion(status_id, recipients=recipients[start : start + _RECIPIENTS_PER_MESSAGE])
            streams.publish(channels.HOMES, message.encode())
    for status_id, names in other_channels.items():
        for name in names:
            if name in subscribed:
                streams.publish(name, deletion(status_id, withdrawn=public.get(status_id)).encode())


def broadcast_to_account(account_id: int, event: Event, payload: bytes | None) -> None:
    """Send an event on the account's `user` stream."""
    streams.publish(channels.home(account_id), Message(event, payload).encode())


def broadcast_to_everybody(event: Event, payload: bytes) -> None:
    """Send an event on the `user` stream of everybody: announcements."""
    streams.publish(channels.EVERYBODY, Message(event, payload).encode())


def broadcast_notification(account_id: int, payload: bytes, event: Event = Event.NOTIFICATION) -> None:
    """Send a notification (the entity as JSON) on the account's `user` and `user:notification` streams."""
    streams.publish(channels.notifications(account_id), Message(event, payload).encode())


def listeners(account_ids: Iterable[int]) -> list[int]:
    """Those of the accounts whose notifications somebody streams now: asked before entities are encoded."""
    names = {account_id: channels.notifications(account_id) for account_id in account_ids}
    subscribed = subscribed_channels(names.values())
    return [account_id for account_id, name in names.items() if name in subscribed]


def publish_relations_changed(account_ids: Iterable[int]) -> None:
    """Make streaming processes reload whom these accounts block and mute, and who blocks them."""
    for account_id in set(account_ids):
        streams.publish(channels.relations(account_id), Message("relations").encode())


def end_token(token_id: int) -> None:
    """Close every stream that was opened with the token."""
    streams.publish(channels.token(token_id), Message(KILL).encode())


def review_user(user_id: int) -> None:
    """Have every stream of the user look again whether it may stay open."""
    streams.publish(channels.user(user_id), Message("review").encode())
