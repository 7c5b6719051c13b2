"""Brings posts to the feeds of home timelines and lists and to streams, and takes them out again: many posts at once, in
a fixed number of queries.

Feeds are written for those who were active in the last seven days: local followers of authors and hashtags, authors, and
owners of lists; streams get whoever is listening. Every reader is judged by `timelines.policies.home.home_verdict`, every
list by `timelines.policies.lists.list_verdict`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

from social.kernel.batches import in_batches
from statuses.events import (
    CardAttached,
    StatusDeleted,
    StatusEdited,
    StatusFetched,
    StatusJoinedThread,
    StatusPublished,
)
from statuses.models import Status
from statuses.policies.visibility import FOR_FOLLOWERS, is_conversational, is_for_addressed, is_listed
from statuses.queries.rows import Row, load_rows
from timelines.policies.home import home_verdict, involved_ids, is_followable_by_hashtag
from timelines.policies.lists import list_verdict
from timelines.queries.fan_out import (
    Readers,
    list_active_followers,
    load_hashtag_followers,
    load_mentioned_readers,
    load_readers,
)
from timelines.queries.lists import load_lists_of_members
from timelines.services.broadcasting import broadcast_deletions, broadcast_posts, broadcast_to_mentioned
from timelines.services.conversations import add_posts
from timelines.stores import feed
from timelines.stores.feed import FeedItem
from timelines.stores.messages import Event, Withdrawn

_STEP: Final = 500


@dataclass(frozen=True, slots=True)
class Recipients:
    """Who gets a post: the accounts in whose home timelines it belongs, and the lists, each with its owner."""

    homes: Sequence[int] = ()
    lists: Sequence[tuple[int, int]] = ()

    @property
    def feeds(self) -> list[str]:
        """The names of their feeds."""
        return [*map(feed.home, self.homes), *(feed.of_list(list_id) for list_id, _owner in self.lists)]

    def without(self, names: Collection[str]) -> Recipients:
        """The same without the feeds of these names."""
        return Recipients(
            [account for account in self.homes if feed.home(account) not in names],
            [found for found in self.lists if feed.of_list(found[0]) not in names],
        )


def fan_out_posts(events: Sequence[StatusPublished]) -> None:
    """Put new posts into the feeds of their readers, and publish to streams what the feeds have taken; direct ones become
    part of their author's conversations (those of the mentioned: `notifications`, where they may be filtered).

    Idempotent for feeds; a repeated call publishes to streams again. What was deleted in the meantime is left out. Raises
    RedisError when feeds cannot be written: the outbox calls again.
    """
    rows = [row for row in load_rows(event.status_id for event in events) if not row.is_deleted]
    add_posts([(row.account_id, row.id) for row in rows if row.local and is_conversational(row.visibility)])
    recipients = find_recipients(rows)
    for status_id, names in write_feeds(rows, recipients).items():
        recipients[status_id] = recipients[status_id].without(names)
    _broadcast(rows, recipients)


def add_fetched(events: Sequence[StatusFetched]) -> None:
    """Put old posts that were fetched from other servers into the feeds of their readers: a feed never lacks what SQL would
    show. Streams say nothing of them.

    Idempotent. Raises RedisError when feeds cannot be written: the outbox calls again.
    """
    rows = [row for row in load_rows(event.status_id for event in events) if not row.is_deleted]
    write_feeds(rows, find_recipients(rows))


def fan_out_joined(events: Sequence[StatusJoinedThread]) -> None:
    """Bring answers home that nobody was shown before what they answer was known: to feeds and home streams.

    Idempotent for feeds; a repeated call publishes to streams again. Raises RedisError when feeds cannot be written: the outbox
    calls again.
    """
    rows = [row for row in load_rows(event.status_id for event in events) if not row.is_deleted]
    recipients = find_recipients(rows)
    write_feeds(rows, recipients)
    _broadcast(rows, recipients, to_public=False)


def fan_out_edits(events: Sequence[StatusEdited]) -> None:
    """Publish edited posts to streams as `status.update`: to those of the readers of home timelines and lists, to public and
    hashtag streams, and to the notification streams of whom they mention. Feeds hold ids, and get the posts of new
    hashtags and mentions only.

    Idempotent for feeds; a repeated call publishes to streams again. What was deleted in the meantime is left out. Raises
    RedisError when feeds cannot be written: the outbox calls again.
    """
    rows = [row for row in load_rows({event.status_id for event in events}) if not row.is_deleted]
    recipients = find_recipients(rows)
    write_feeds(rows, recipients)
    _broadcast(rows, recipients, Event.STATUS_UPDATE)
    broadcast_to_mentioned(rows, load_mentioned_readers(rows), Event.STATUS_UPDATE)


def show_cards(events: Sequence[CardAttached]) -> None:
    """Publish posts to streams again that show the preview of their link now. Feeds hold ids: nothing changes there."""
    rows = [row for row in load_rows(event.status_id for event in events) if not row.is_deleted]
    _broadcast(rows, find_recipients(rows), Event.STATUS_UPDATE)


def _broadcast(
    rows: Sequence[Row],
    recipients: Mapping[int, Recipients],
    event: Event = Event.UPDATE,
    *,
    to_public: bool = True,
) -> None:
    broadcast_posts(
        rows,
        {status_id: found.homes for status_id, found in recipients.items()},
        event,
        lists={status_id: found.lists for status_id, found in recipients.items()},
        to_public=to_public,
    )


def find_recipients(rows: Sequence[Row]) -> dict[int, Recipients]:
    """By post, the home timelines and lists in which it belongs: four queries at most, whatever the number of all."""
    if not rows:
        return {}
    answered = {row.in_reply_to_account_id for row in rows if row.in_reply_to_account_id != row.account_id}
    people = {account for account in answered if account is not None}
    readers = load_readers(
        {row.account_id for row in rows},
        people={person for row in rows for person in involved_ids(row)},
        followable=people | {row.proper.account_id for row in rows if row.proper.account_id != row.account_id},
        answered=people,
        tagged=[row.id for row in rows if is_followable_by_hashtag(row)],
    )
    return {row.id: _recipients_of(row, readers) for row in rows}


def _recipients_of(row: Row, readers: Readers) -> Recipients:
    of_author = readers.of(row.account_id)
    candidates: Iterable[int] = of_author
    if row.visibility not in FOR_FOLLOWERS:
        candidates = [account for account in (*row.addressed_ids, row.account_id) if account in of_author]
    by_hashtag = readers.by_hashtag.get(row.id, ())
    if by_hashtag:
        candidates = dict.fromkeys((*candidates, *by_hashtag))
    # Of those to whom the same applies one is judged.
    alike = readers.alike.get(row.account_id, frozenset()) - involved_ids(row) - set(by_hashtag)
    all_of_them = bool(alike) and _comes_home(row, next(iter(alike)), readers)
    homes = [
        account for account in candidates if (all_of_them if account in alike else _comes_home(row, account, readers))
    ]
    lists = [
        (found.id, found.owner_id)
        for found in readers.lists.get(row.account_id, ())
        if found.owner_id in of_author
        and list_verdict(
            row, readers.relations(found.owner_id, row.account_id), found.replies_policy, found.members
        ).delivered
    ]
    return Recipients(homes, lists)


def _comes_home(row: Row, account: int, readers: Readers) -> bool:
    tagged = (row.id,) if account in readers.by_hashtag.get(row.id, ()) else ()
    return home_verdict(row, readers.relations(account, row.account_id), tagged).delivered


def write_feeds(rows: Sequence[Row], recipients: Mapping[int, Recipients]) -> dict[int, set[str]]:
    """Add the posts to feeds; by boost, the names of the feeds that skipped it. Raises RedisError."""
    # Feeds that get the same posts share one list, so that it is encoded once.
    shared: dict[tuple[int, ...], list[FeedItem]] = {}
    items = {row.id: FeedItem(row.id, row.reblog_of_id or 0) for row in rows}
    posts: dict[str, tuple[int, ...]] = defaultdict(tuple)
    for row in rows:
        for name in recipients[row.id].feeds:
            posts[name] += (row.id,)
    return feed.add(
        {name: shared.setdefault(ids, [items[status_id] for status_id in ids]) for name, ids in posts.items()}
    )


def withdraw_posts(events: Sequence[StatusDeleted]) -> None:
    """Take deleted posts, and every boost of them, out of feeds, and publish the deletions to streams.

    In steps, for a post may have tens of thousands of boosts. Feeds that show a boost which was taken back are built
    again: they may lack somebody else's boost of the same post.
    Raises RedisError when feeds cannot be reached: the outbox calls again. Readers who unfollowed in the meantime
    lost their feed then.
    """
    deleted = [
        _Deleted(event.status_id, event.account_id, event.reblog_of_id or 0, event.had_files) for event in events
    ]
    undone = {event.status_id for event in events if event.reblog_of_id is not None}
    boosts = Status.objects.filter(reblog_of_id__one_of=[event.status_id for event in events])
    rows = boosts.values_list("id", "account_id", "reblog_of_id").iterator(chunk_size=_STEP)
    boosted = (_Deleted(status_id, account_id, original or 0) for status_id, account_id, original in rows)
    for batch in in_batches(chain(deleted, boosted), _STEP):
        _withdraw(batch, undone)


class _Deleted(NamedTuple):
    id: int
    account_id: int
    original: int
    had_files: bool = False


def _withdraw(posts: Sequence[_Deleted], undone: Collection[int]) -> None:
    """Take some posts out of the feeds of their readers and publish that to streams; feeds that show an undone boost are
    dropped.
    """
    authors = {post.account_id for post in posts}
    followers, lists = list_active_followers(authors), load_lists_of_members(authors)
    rows = {row.id: row for row in load_rows(post.id for post in posts if not post.original)}
    had_files = {post.id for post in posts if post.had_files}
    public = {row.id: Withdrawn(row.local, row.id in had_files) for row in rows.values() if is_listed(row.visibility)}
    by_hashtag = load_hashtag_followers(public)
    homes = {post.id: followers[post.account_id] | by_hashtag.get(post.id, set()) for post in posts}
    gone: dict[str, list[FeedItem]] = defaultdict(list)
    for post in posts:
        item = FeedItem(post.id, post.original)
        names = Recipients([*homes[post.id]], lists.get(post.account_id, ())).feeds
        if post.id in undone:
            feed.drop_showing(names, [item])
        else:
            for name in names:
                gone[name].append(item)
    feed.remove(gone)
    for row in rows.values():
        # An id says that there was a post, and when: not to be sent to those whom it was not for.
        if is_for_addressed(row.visibility):
            homes[row.id] &= {*row.addressed_ids, row.account_id}
    of_lists = {
        post.id: [
            list_id
            for list_id, owner in lists.get(post.account_id, ())
            if owner in followers[post.account_id] & homes[post.id]
        ]
        for post in posts
    }
    broadcast_deletions(homes, public, of_lists)
