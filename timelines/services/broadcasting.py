"""Announces to streams: posts, deletions, and what makes streams forget or end.

Everything here is best effort, as PUBLISH is: who is not connected hears nothing, and reads the timeline instead.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import orjson

from social.kernel import clock, streams
from statuses.queries.marks import Marks, load_marks
from statuses.queries.page import fill, of_rows
from statuses.queries.rows import Row
from statuses.serializers.presenting import present
from timelines.policies.public import in_public_timeline, in_tag_timelines
from timelines.queries.public import load_public_facts
from timelines.stores import channels
from timelines.stores.audience import listened
from timelines.stores.messages import KILL, Event, Facts, Message, deletion, status_event

# A signed-in reader who has nothing to do with the post: ids of accounts begin far above.
_ANY_READER: Final = 0
_UNMARKED: Final = Marks()
_RECIPIENTS_PER_MESSAGE: Final = 500

REAL_TIME: Final = timedelta(hours=6)
"""Older posts are not told to streams: a thread that was just fetched, or what waited for a worker, is no news."""


def broadcast_posts(
    rows: Sequence[Row],
    readers: Mapping[int, Collection[int]],
    event: Event = Event.UPDATE,
    *,
    to_public: bool = True,
) -> None:
    """Tell streams of posts: the home streams of `readers` (accounts by post) and the public ones they belong to.

    Who listens is asked first; a post that nobody listens for is not even encoded. It is encoded once for all
    readers, and once more for each of the few who have marked it, or wrote it.
    """
    live_since = (clock.now() - REAL_TIME).timestamp() * 1000
    rows = [row for row in rows if row.created_ms >= live_since]
    public = [row for row in rows if to_public and in_tag_timelines(row)]
    facts = load_public_facts([row.id for row in public])
    public_channels = {row.id: _public_channels(row, facts[row.id][1]) for row in public if row.id in facts}
    names = {name for found in public_channels.values() for name in found}
    homes = {account: channels.home(account) for found in readers.values() for account in found}
    heard = listened([*names, *homes.values()])
    listening = {row.id: [account for account in readers.get(row.id, ()) if homes[account] in heard] for row in rows}
    wanted = [row for row in rows if listening[row.id] or not heard.isdisjoint(public_channels.get(row.id, ()))]
    if not wanted:
        return
    bodies = _Bodies(wanted, {account for row in wanted for account in listening[row.id]})
    for row in wanted:
        _tell_homes(row, listening[row.id], bodies, event)
        for name in public_channels.get(row.id, ()):
            if name in heard:
                streams.publish(name, status_event(event, bodies.common(row), facts=_facts(row, facts)).encode())


class _Bodies:
    """Encoded entities of posts: one for every ordinary reader, others for who has a mark on the post, or wrote it."""

    def __init__(self, rows: Sequence[Row], readers: Collection[int]) -> None:
        self._page = fill(of_rows(rows, _ANY_READER))
        self._marks = load_marks(readers, [row.proper.id for row in rows])
        self._common = dict(zip(self._page.ids, map(orjson.dumps, present(self._page)), strict=True))

    def common(self, row: Row) -> bytes:
        """For readers without marks."""
        return self._common[row.id]

    def special(self, row: Row, reader: int) -> bytes | None:
        """For this reader alone; None when the common one is right."""
        marks = self._marks.get(reader, _UNMARKED)
        authors = (row.account_id, row.proper.account_id)
        if reader not in authors and row.proper.id not in marks.favourited | marks.reblogged:
            return None
        return orjson.dumps(present(self._page.seen_by(reader, row, marks))[0])


def _tell_homes(row: Row, accounts: Iterable[int], bodies: _Bodies, event: Event) -> None:
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
    return Facts(row.account_id, frozenset(row.addressed_ids), row.language, facts[row.id][0], row.domain)


def broadcast_deletions(readers: Mapping[int, Collection[int]], public: Mapping[int, bool]) -> None:
    """Tell streams that posts are gone: the home streams of `readers` (accounts by post), and every public and hashtag
    stream for the posts in `public` (by id: whether it was written here).
    """
    tags = {status_id: found for status_id, (_media, found) in load_public_facts(list(public)).items()}
    homes = {account: channels.home(account) for found in readers.values() for account in found}
    public_channels = {
        status_id: [
            channels.PUBLIC_LOCAL if local else channels.PUBLIC_REMOTE,
            *(channels.hashtag(name) for name in tags.get(status_id, ())),
        ]
        for status_id, local in public.items()
    }
    heard = listened([*homes.values(), *{name for found in public_channels.values() for name in found}])
    for status_id, accounts in readers.items():
        recipients = [account for account in accounts if homes[account] in heard]
        for start in range(0, len(recipients), _RECIPIENTS_PER_MESSAGE):
            message = deletion(status_id, recipients=recipients[start : start + _RECIPIENTS_PER_MESSAGE])
            streams.publish(channels.HOMES, message.encode())
    for status_id, names in public_channels.items():
        for name in names:
            if name in heard:
                streams.publish(name, deletion(status_id).encode())


def broadcast_to_account(account_id: int, event: Event, payload: bytes | None) -> None:
    """Send an event on the account's `user` stream: announcements, changed filters."""
    streams.publish(channels.home(account_id), Message(event, payload).encode())


def broadcast_notification(account_id: int, payload: bytes, event: Event = Event.NOTIFICATION) -> None:
    """Send a notification (the entity as JSON) on the account's `user` and `user:notification` streams."""
    streams.publish(channels.notifications(account_id), Message(event, payload).encode())


def listeners(account_ids: Iterable[int]) -> list[int]:
    """Those of the accounts where somebody would hear `broadcast_notification`: worth asking before entities are made."""
    names = {account_id: channels.notifications(account_id) for account_id in account_ids}
    heard = listened(names.values())
    return [account_id for account_id, name in names.items() if name in heard]


def announce_relations(account_ids: Iterable[int]) -> None:
    """Make streams forget whom these accounts block and mute, and who blocks them."""
    for account_id in set(account_ids):
        streams.publish(channels.relations(account_id), Message("relations").encode())


def end_token(token_id: int) -> None:
    """Close every stream that was opened with the token."""
    streams.publish(channels.token(token_id), Message(KILL).encode())


def review_user(user_id: int) -> None:
    """Have every stream of the user look again whether it may stay open."""
    streams.publish(channels.user(user_id), Message("review").encode())
