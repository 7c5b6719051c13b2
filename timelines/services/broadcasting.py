"""Publishes posts, deletions and control messages to streams. A client that is not connected reads the timeline instead."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final

import orjson

from accounts.policies.relations import NO_RELATIONS
from accounts.queries.relations import load_hiding, load_relations_of
from social.kernel import clock, streams
from social.kernel.batches import in_batches
from statuses.policies.audience import HASHTAG_TIMELINE, HOME, PUBLIC_TIMELINE
from statuses.policies.posts import Post
from statuses.queries.marks import Marks, load_marks
from statuses.queries.page import fill, of_rows
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import present
from timelines.policies.feeds import involved_ids
from timelines.queries.public import load_public_facts
from timelines.stores import channels
from timelines.stores.channels import subscribed_channels
from timelines.stores.messages import CONNECTION_END, Event, Facts, Message, Withdrawn, deletion, status_event

# This id stands for any signed-in reader without relations to the post; no account has it.
_ANY_READER: Final = 0
_NO_MARKS: Final = Marks()
_RECIPIENTS_PER_MESSAGE: Final = 500

STREAMED_AGE: Final = timedelta(hours=6)
"""Maximum age of new posts that are streamed; it excludes fetched threads, and posts that waited a long time for a worker."""


def broadcast_posts(
    posts: Sequence[Post],
    readers: Mapping[int, Collection[int]],
    event: Event = Event.UPDATE,
    *,
    lists: Mapping[int, Collection[tuple[int, int]]] | None = None,
    to_public: bool = True,
) -> None:
    """Publish posts to the home streams of `readers` (account ids by post id), the streams of `lists` (pairs of a list and its
    owner, by post id) and, with `to_public`, the public streams to which the posts belong.

    A post without subscribers is not encoded. Any other post is encoded once for ordinary readers, and separately for its
    author and for readers who have favourited, boosted or otherwise marked it. New posts older than STREAMED_AGE are left out.
    """
    live_since = (clock.now() - STREAMED_AGE).timestamp() * 1000
    posts = [post for post in posts if event is not Event.UPDATE or post.created_ms >= live_since]
    public = [post for post in posts if to_public and HASHTAG_TIMELINE.shows(post, NO_RELATIONS)]
    facts = load_public_facts([post.id for post in public])
    public_channels = {post.id: _public_channels(post, facts[post.id][1]) for post in public if post.id in facts}
    names = {name for found in public_channels.values() for name in found}
    homes = {account: channels.home(account) for found in readers.values() for account in found}
    of_lists = {found: channels.of_list(found[0]) for some in (lists or {}).values() for found in some}
    subscribed = subscribed_channels([*names, *homes.values(), *of_lists.values()])
    listening = {
        post.id: [account for account in readers.get(post.id, ()) if homes[account] in subscribed] for post in posts
    }
    open_lists = {
        post.id: [found for found in (lists or {}).get(post.id, ()) if of_lists[found] in subscribed] for post in posts
    }
    streamed_posts = [
        post
        for post in posts
        if listening[post.id] or open_lists[post.id] or not subscribed.isdisjoint(public_channels.get(post.id, ()))
    ]
    if not streamed_posts:
        return
    bodies = _Bodies(
        streamed_posts,
        {
            account
            for post in streamed_posts
            for account in (*listening[post.id], *(owner for _id, owner in open_lists[post.id]))
        },
    )
    for post in streamed_posts:
        _publish_to_homes(post, listening[post.id], bodies, event)
        for list_id, owner in open_lists[post.id]:
            body = bodies.special(post, owner) or bodies.common(post)
            streams.publish(channels.of_list(list_id), status_event(event, body).encode())
        for name in public_channels.get(post.id, ()):
            if name in subscribed:
                streams.publish(name, status_event(event, bodies.common(post), facts=_facts(post, facts)).encode())


def broadcast_to_mentioned(posts: Sequence[Post], readers: Mapping[int, Collection[int]], event: Event) -> None:
    """Publish posts to the `user:notification` streams of `readers` (ids of accounts that may read a post, by post id)."""
    names = {account: channels.notifications(account) for found in readers.values() for account in found}
    subscribed = subscribed_channels(names.values())
    listening = {post.id: [one for one in readers.get(post.id, ()) if names[one] in subscribed] for post in posts}
    posts_with_listeners = [post for post in posts if listening[post.id]]
    if not posts_with_listeners:
        return
    bodies = _Bodies(posts_with_listeners, {account for post in posts_with_listeners for account in listening[post.id]})
    for post in posts_with_listeners:
        for account in listening[post.id]:
            body = bodies.special(post, account) or bodies.common(post)
            streams.publish(names[account], status_event(event, body).encode())


class _Bodies:
    """Encoded entities of posts: one for all ordinary readers, others for readers with marks, filters or special relations."""

    def __init__(self, posts: Sequence[Post], readers: Collection[int]) -> None:
        self._page = fill(of_rows(posts, _ANY_READER))
        self._marks = load_marks(readers, self._page.posts, self._page.polls)
        self._related = {post.id: self._page.related_ids(post) for post in posts}
        self._relations = load_relations_of(readers, {number for found in self._related.values() for number in found})
        self._common = dict(zip(self._page.ids, map(orjson.dumps, present(self._page)), strict=True))

    def common(self, post: Post) -> bytes:
        """Return the entity for ordinary readers."""
        return self._common[post.id]

    def special(self, post: Post, reader: int) -> bytes | None:
        """Return a separate entity for this reader; None when the common entity applies."""
        marks = self._marks.get(reader, _NO_MARKS)
        relations = self._relations.get(reader)
        related = self._related[post.id]
        concerned = {post.account_id, post.proper.account_id} | related
        if post.proper.interaction_policy:
            # These accounts may always reply, whatever the policy says.
            concerned |= {*post.proper.addressed_ids, post.proper.in_reply_to_account_id or 0}
        for quoted in post.quotes:
            concerned |= {quoted.account_id, *quoted.addressed_ids}
        marked = any(marks.concern(part.id) for part in (post.proper, *post.quotes))
        if reader not in concerned and not marked and not (relations is not None and related):
            return None
        return orjson.dumps(present(self._page.seen_by(reader, post, marks, relations))[0])


def _publish_to_homes(post: Post, accounts: Iterable[int], bodies: _Bodies, event: Event) -> None:
    ordinary: list[int] = []
    for account in accounts:
        special = bodies.special(post, account)
        if special is None:
            ordinary.append(account)
        else:
            streams.publish(channels.home(account), status_event(event, special).encode())
    for recipients in in_batches(ordinary, _RECIPIENTS_PER_MESSAGE):
        streams.publish(channels.HOMES, status_event(event, bodies.common(post), recipients=recipients).encode())


def _public_channels(post: Post, tags: Iterable[str]) -> list[str]:
    found = [channels.hashtag(name) for name in tags]
    if PUBLIC_TIMELINE.shows_answer(post):
        found.append(channels.PUBLIC_LOCAL if post.local else channels.PUBLIC_REMOTE)
    return found


def _facts(post: Post, facts: Mapping[int, tuple[bool, list[str]]]) -> Facts:
    quoted = post.proper.quoted
    return Facts(
        post.account_id,
        frozenset(post.addressed_ids),
        post.language,
        facts[post.id][0],
        post.domain,
        quoted_id=None if quoted is None else quoted.account_id,
        quoted_domain=None if quoted is None else quoted.domain,
    )


def broadcast_deletions(
    readers: Mapping[int, Collection[int]],
    public: Mapping[int, Withdrawn],
    lists: Mapping[int, Collection[int]] | None = None,
) -> None:
    """Publish deletions to streams: the home streams of `readers` (account ids by post id), the streams of `lists` (list ids
    by post id), and every public and hashtag stream that may have shown the posts in `public`.
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
        listening = (account for account in accounts if homes[account] in subscribed)
        for recipients in in_batches(listening, _RECIPIENTS_PER_MESSAGE):
            streams.publish(channels.HOMES, deletion(status_id, recipients=recipients).encode())
    for status_id, names in other_channels.items():
        for name in names:
            if name in subscribed:
                streams.publish(name, deletion(status_id, withdrawn=public.get(status_id)).encode())


def broadcast_to_account(account_id: int, event: Event, payload: bytes | None) -> None:
    """Send an event on the account's `user` stream."""
    streams.publish(channels.home(account_id), Message(event, payload).encode())


def broadcast_to_everybody(event: Event, payload: bytes) -> None:
    """Send an event on every `user` stream; used for announcements."""
    streams.publish(channels.BROADCAST, Message(event, payload).encode())


def broadcast_notification(account_id: int, payload: bytes, event: Event = Event.NOTIFICATION) -> None:
    """Send a notification (the entity as JSON) on the account's `user` and `user:notification` streams."""
    streams.publish(channels.notifications(account_id), Message(event, payload).encode())


def listeners(account_ids: Iterable[int]) -> list[int]:
    """Return the accounts among these whose notifications are being streamed, so that entities are encoded only for them."""
    names = {account_id: channels.notifications(account_id) for account_id in account_ids}
    subscribed = subscribed_channels(names.values())
    return [account_id for account_id, name in names.items() if name in subscribed]


def publish_relations_changed(account_ids: Iterable[int]) -> None:
    """Make streaming processes reload the blocks and mutes by these accounts, and the blocks of these accounts by others."""
    for account_id in set(account_ids):
        streams.publish(channels.relations(account_id), Message("relations").encode())


def end_token(token_id: int) -> None:
    """Close every stream that was opened with the token."""
    streams.publish(channels.token(token_id), Message(CONNECTION_END).encode())


def review_user(user_id: int) -> None:
    """Make streaming processes check whether the user's streams may stay open."""
    streams.publish(channels.user(user_id), Message("review").encode())


def withdraw_hidden_posts(reader_id: int, status_ids: Collection[int], *, list_id: int | None = None) -> None:
    """Publish, on the stream of a feed, the deletion of posts that were just removed from that feed: the reader's home feed, or
    the feed of the list `list_id`.

    Posts are left out unless they involve an account which the reader blocks or mutes, or which blocks the reader. Without a
    subscriber, nothing is read.
    """
    channel = channels.home(reader_id) if list_id is None else channels.of_list(list_id)
    if not status_ids or not subscribed_channels([channel]):
        return
    people = {post.id: involved_ids(post) for post in load_posts(status_ids)}
    relations = load_hiding(reader_id, {person for some in people.values() for person in some})
    hidden_ids = [
        status_id
        for status_id, some in people.items()
        if not all(HOME.authors.shows(person, relations) for person in some)
    ]
    if list_id is None:
        broadcast_deletions({status_id: [reader_id] for status_id in hidden_ids}, {})
    else:
        broadcast_deletions({}, {}, {status_id: [list_id] for status_id in hidden_ids})
