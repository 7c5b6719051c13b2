"""Adds posts to streams and to the feeds of home timelines and lists, and removes them, in a constant number of queries. Feeds
are written for users who were active in the last seven days, streams for subscribers. `timelines.policies.feeds` decides who
gets a post.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

from social.kernel.batches import in_batches
from statuses import events as status_events
from statuses.models import Status
from statuses.policies.posts import Post
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, is_conversational, is_for_addressed, is_listed
from statuses.queries.posts import load_posts
from timelines.policies import feeds
from timelines.queries import fan_out
from timelines.queries.lists import load_lists_of_members
from timelines.services.broadcasting import broadcast_deletions, broadcast_posts, broadcast_to_mentioned
from timelines.services.conversations import add_posts
from timelines.stores import channels, feed
from timelines.stores.channels import subscribed_channels
from timelines.stores.feed import FeedItem
from timelines.stores.messages import Event, Withdrawn

_BATCH_SIZE: Final = 500


@dataclass(frozen=True, slots=True)
class Recipients:
    """Recipients of a post: the accounts to whose home timelines the post belongs, and the lists, each with its owner."""

    homes: Sequence[int] = ()
    lists: Sequence[tuple[int, int]] = ()

    @property
    def feeds(self) -> list[str]:
        return [*map(feed.home, self.homes), *(feed.of_list(list_id) for list_id, _owner in self.lists)]

    @property
    def channels(self) -> dict[str, str]:
        """Channels of the recipients' streams, by the names of their feeds."""
        return {
            **{feed.home(account): channels.home(account) for account in self.homes},
            **{feed.of_list(list_id): channels.of_list(list_id) for list_id, _owner in self.lists},
        }

    def without(self, names: Collection[str]) -> "Recipients":
        """Return the recipients without these feeds."""
        return Recipients(
            [account for account in self.homes if feed.home(account) not in names],
            [found for found in self.lists if feed.of_list(found[0]) not in names],
        )


def fan_out_posts(events: Sequence[status_events.StatusPublished]) -> None:
    """Add new posts to the feeds of their readers and, except for repeated boosts, to streams. Direct posts are added to their
    author's conversations (`notifications` adds them to the conversations of the others). Idempotent for feeds; deleted posts
    are left out. Raises RedisError when feeds cannot be written; the outbox then retries.
    """
    posts = _load_posts(events)
    add_posts([(post.account_id, post.id) for post in posts if post.local and is_conversational(post.visibility)])
    recipients = find_recipients(posts)
    repeated = find_repeated(posts, recipients)
    write_feeds(posts, recipients)
    for status_id, names in repeated.items():
        recipients[status_id] = recipients[status_id].without(names)
    _broadcast(posts, recipients)


def add_fetched(events: Sequence[status_events.StatusFetched]) -> None:
    """Add old posts, fetched from other servers, to the feeds of their readers, not to streams. Raises RedisError."""
    posts = _load_posts(events)
    write_feeds(posts, find_recipients(posts))


def fan_out_joined(events: Sequence[status_events.StatusJoinedThread]) -> None:
    """Deliver replies that could not be shown while their parent was unknown. Idempotent; raises RedisError."""
    posts = _load_posts(events)
    recipients = find_recipients(posts)
    write_feeds(posts, recipients)
    _broadcast(posts, recipients, to_public=False)


def fan_out_edits(
    events: Sequence[status_events.StatusEdited | status_events.QuotePolicyChanged | status_events.QuoteSettled],
) -> None:
    """Publish changed posts as `status.update` to home, list, public and hashtag streams, and to the notification streams of
    mentioned accounts. Only posts with new hashtags or mentions are added to feeds. Idempotent, and raises RedisError, like
    `fan_out_posts`.
    """
    posts = _load_posts(events)
    recipients = find_recipients(posts)
    write_feeds(posts, recipients)
    _broadcast(posts, recipients, Event.STATUS_UPDATE)
    broadcast_to_mentioned(posts, fan_out.load_mentioned_readers(posts), Event.STATUS_UPDATE)


def show_cards(events: Sequence[status_events.CardAttached]) -> None:
    """Publish posts to streams again after the preview of their link was attached. Feeds contain ids and do not change."""
    posts = _load_posts(events)
    _broadcast(posts, find_recipients(posts), Event.STATUS_UPDATE)


def _load_posts(events: Sequence[Any]) -> list[Post]:
    return [post for post in load_posts(event.status_id for event in events) if not post.is_deleted]


def _broadcast(
    posts: Sequence[Post],
    recipients: Mapping[int, Recipients],
    event: Event = Event.UPDATE,
    *,
    to_public: bool = True,
) -> None:
    broadcast_posts(
        posts,
        {status_id: found.homes for status_id, found in recipients.items()},
        event,
        lists={status_id: found.lists for status_id, found in recipients.items()},
        to_public=to_public,
    )


def find_recipients(posts: Sequence[Post]) -> dict[int, Recipients]:
    """Return the recipients by post id, with at most four queries, whatever the number of posts and recipients."""
    if not posts:
        return {}
    answered_ids = {post.in_reply_to_account_id for post in posts if post.in_reply_to_account_id != post.account_id}
    people = {account for account in answered_ids if account is not None}
    readers = fan_out.load_readers(
        {post.account_id for post in posts},
        people={person for post in posts for person in feeds.involved_ids(post)},
        followable=people | {post.proper.account_id for post in posts if post.proper.account_id != post.account_id},
        answered_ids=people,
        tagged=[post.id for post in posts if feeds.is_followable_by_hashtag(post)],
    )
    return {post.id: _recipients_of(post, readers) for post in posts}


def _recipients_of(post: Post, readers: fan_out.Readers) -> Recipients:
    of_author = readers.of(post.account_id)
    candidates: Iterable[int] = of_author
    if post.visibility not in FOLLOWER_VISIBILITIES:
        candidates = [account for account in (*post.addressed_ids, post.account_id) if account in of_author]
    by_hashtag = readers.by_hashtag.get(post.id, ())
    if by_hashtag:
        candidates = dict.fromkeys((*candidates, *by_hashtag))
    # Readers with the same relations get the same verdict, so only one of them is checked.
    alike = readers.alike.get(post.account_id, frozenset()) - feeds.involved_ids(post) - set(by_hashtag)
    all_of_them = bool(alike) and _is_home_post(post, next(iter(alike)), readers)
    homes = [
        account
        for account in candidates
        if (all_of_them if account in alike else _is_home_post(post, account, readers))
    ]
    lists = [
        (found.id, found.owner_id)
        for found in readers.lists.get(post.account_id, ())
        if found.owner_id in of_author
        and feeds.list_verdict(
            post, readers.relations(found.owner_id, post.account_id), found.replies_policy, found.members
        ).delivered
    ]
    return Recipients(homes, lists)


def _is_home_post(post: Post, account: int, readers: fan_out.Readers) -> bool:
    tagged = (post.id,) if account in readers.by_hashtag.get(post.id, ()) else ()
    return feeds.home_verdict(post, readers.relations(account, post.account_id), tagged).delivered


def find_repeated(posts: Sequence[Post], recipients: Mapping[int, Recipients]) -> dict[int, set[str]]:
    """Map each boost to the streamed feeds whose newest items already contain the boosted post. Raises RedisError."""
    boosts = [post for post in posts if post.reblog_of_id is not None]
    streams = {name: channel for post in boosts for name, channel in recipients[post.id].channels.items()}
    subscribed = subscribed_channels(streams.values())
    names = [name for name, channel in streams.items() if channel in subscribed]
    if not names:
        return {}
    newest = feed.newest(names, feeds.BOOST_WINDOW + len(posts))
    added = {post.id for post in posts}
    older_items = {name: [item for item in newest[name] if item.id not in added] for name in names}
    repeated: dict[int, set[str]] = defaultdict(set)
    for post in sorted(posts, key=lambda post: post.id):
        for name in older_items.keys() & {*recipients[post.id].feeds}:
            older_items[name].append(_item_of(post))
            if feeds.repeated_items(older_items[name])[-1] is not None:
                repeated[post.id].add(name)
    return repeated


def _item_of(post: Post) -> FeedItem:
    return FeedItem(post.id, post.reblog_of_id or 0)


def write_feeds(rows: Sequence[Post], recipients: Mapping[int, Recipients]) -> None:
    """Add the posts to feeds. Raises RedisError."""
    # Feeds that get the same posts share one list, so that it is encoded only once.
    shared: dict[tuple[int, ...], list[FeedItem]] = {}
    items = {row.id: _item_of(row) for row in rows}
    posts: dict[str, tuple[int, ...]] = defaultdict(tuple)
    for row in rows:
        for name in recipients[row.id].feeds:
            posts[name] += (row.id,)
    feed.add({name: shared.setdefault(ids, [items[status_id] for status_id in ids]) for name, ids in posts.items()})


def withdraw_posts(events: Sequence[status_events.StatusDeleted]) -> None:
    """Remove deleted posts, and every boost of them, from feeds, and publish the deletions to streams, in batches. Readers who
    have unfollowed the author need no deletions, because their feeds were dropped. Raises RedisError; the outbox then retries.
    """
    deleted = [
        _Deleted(event.status_id, event.account_id, event.reblog_of_id or 0, event.had_files) for event in events
    ]
    boosts = Status.objects.filter(reblog_of_id__one_of=[event.status_id for event in events])
    rows = boosts.values_list("id", "account_id", "reblog_of_id").iterator(chunk_size=_BATCH_SIZE)
    boosted = (_Deleted(status_id, account_id, original or 0) for status_id, account_id, original in rows)
    for batch in in_batches(chain(deleted, boosted), _BATCH_SIZE):
        _withdraw(batch)


class _Deleted(NamedTuple):
    id: int
    account_id: int
    original: int
    had_files: bool = False


def _withdraw(posts: Sequence[_Deleted]) -> None:
    authors = {post.account_id for post in posts}
    followers, lists = fan_out.list_active_followers(authors), load_lists_of_members(authors)
    rows = {row.id: row for row in load_posts(post.id for post in posts if not post.original)}
    had_files = {post.id for post in posts if post.had_files}
    public = {row.id: Withdrawn(row.local, row.id in had_files) for row in rows.values() if is_listed(row.visibility)}
    by_hashtag = fan_out.load_hashtag_followers(public)
    homes = {post.id: followers[post.account_id] | by_hashtag.get(post.id, set()) for post in posts}
    withdrawn: dict[str, list[FeedItem]] = defaultdict(list)
    for post in posts:
        item = FeedItem(post.id, post.original)
        for name in Recipients([*homes[post.id]], lists.get(post.account_id, ())).feeds:
            withdrawn[name].append(item)
    feed.remove(withdrawn)
    for row in rows.values():
        # An id reveals that a post existed, and when, so it is sent only to the addressed accounts.
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
