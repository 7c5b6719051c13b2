"""Keeps feeds and streams right when people follow, block and mute, or lose what opened a stream."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from accounts.events import (
    AccountBlocked,
    AccountFollowed,
    AccountMuted,
    AccountUnblocked,
    AccountUnfollowed,
    AccountUnmuted,
    AccountUnsuspended,
    DomainBlocked,
    DomainUnblocked,
    FollowChanged,
    TagFollowed,
    TagUnfollowed,
    TokenRevoked,
    UserStateChanged,
)
from statuses.events import FiltersChanged
from timelines.events import ListChanged
from timelines.queries.lists import load_list_ids
from timelines.services.broadcasting import broadcast_to_account, end_token, publish_relations_changed, review_user
from timelines.services.home import forget_feeds
from timelines.stores import feed
from timelines.stores.messages import Event

OneSided = AccountUnfollowed | AccountMuted | AccountUnmuted | DomainBlocked | DomainUnblocked


def forget_followers_feeds(events: Sequence[AccountFollowed | FollowChanged]) -> None:
    """Forget the feeds of somebody who follows somebody new, or in another way; they are built again when they are looked at.

    Adding the new posts alone would not do: what others have answered to the one now followed belongs into the home
    timeline from now on as well, and a feed never lacks what SQL would show. Raises RedisError.
    """
    _drop_feeds({event.account_id for event in events})


def forget_tag_followers_feeds(events: Sequence[TagFollowed | TagUnfollowed]) -> None:
    """Forget the home feed of somebody who follows a hashtag or does so no more; it is built again, with or without its
    posts. Raises RedisError.
    """
    readers = {event.account_id for event in events}
    forget_feeds({*map(feed.home, readers)}, readers)


def forget_all_feeds(events: Sequence[AccountUnsuspended]) -> None:
    """Forget the feeds of everybody when somebody's suspension is undone: those that were built meanwhile lack their posts,
    boosts of them and what was answered to them. They are built again when they are looked at. Raises RedisError.
    """
    feed.drop_all()


def forget_list_feeds(events: Sequence[ListChanged]) -> None:
    """Forget the feeds of changed lists and, as far as they are or were exclusive, the home feeds of their owners.

    Raises RedisError.
    """
    forget_feeds(
        {
            *(feed.of_list(event.list_id) for event in events),
            *(feed.home(event.account_id) for event in events if event.concerns_home),
        },
        {event.account_id for event in events},
    )


def forget_own_feeds(events: Sequence[OneSided]) -> None:
    """Forget the feed of somebody who ended a follow, or changed a mute or a block of a server, and what their streams
    remember. It is built again, without or with the posts in question, when they look. The other one's feed is none of
    theirs to throw away. What a mute or a block takes out is deleted from open streams. Raises RedisError.
    """
    _forget({event.account_id for event in events})


def forget_both_feeds(events: Sequence[AccountBlocked | AccountUnblocked]) -> None:
    """Forget like `forget_own_feeds`, on both sides: after a block neither sees the other. Raises RedisError."""
    _forget({account for event in events for account in (event.account_id, event.target_id)})


def _forget(account_ids: Collection[int]) -> None:
    _drop_feeds(account_ids)
    publish_relations_changed(account_ids)


def _drop_feeds(account_ids: Collection[int]) -> None:
    """Forget the home feeds of these accounts and the feeds of their lists; those of open streams are built again."""
    forget_feeds({*map(feed.home, account_ids), *map(feed.of_list, load_list_ids(account_ids))}, account_ids)


def publish_filters_changed(events: Sequence[FiltersChanged]) -> None:
    """Publish `filters_changed` on the owners' `user` streams, and have all their streams read the filters anew."""
    account_ids = {event.account_id for event in events}
    publish_relations_changed(account_ids)
    for account_id in account_ids:
        broadcast_to_account(account_id, Event.FILTERS_CHANGED, None)


def end_streams_of_tokens(events: Sequence[TokenRevoked]) -> None:
    """Close the streams of revoked tokens (security row 23), again if the revoking process could not."""
    for event in events:
        end_token(event.token_id)


def review_streams_of_users(events: Sequence[UserStateChanged]) -> None:
    """Have the streams of changed users looked at: those of disabled ones close."""
    for event in events:
        review_user(event.user_id)
