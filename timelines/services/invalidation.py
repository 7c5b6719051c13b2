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
    DomainBlocked,
    DomainUnblocked,
    FollowChanged,
    TokenRevoked,
    UserStateChanged,
)
from timelines.services.broadcasting import announce_relations, end_token, review_user
from timelines.stores import feed

OneSided = AccountUnfollowed | AccountMuted | AccountUnmuted | DomainBlocked | DomainUnblocked


def forget_followers_feeds(events: Sequence[AccountFollowed | FollowChanged]) -> None:
    """Forget the feed of somebody who follows somebody new, or in another way; it is built again when it is looked at.

    Adding the new posts alone would not do: what others have answered to the one now followed belongs into the home
    timeline from now on as well, and a feed never lacks what SQL would show. Raises RedisError.
    """
    feed.drop({feed.home(event.account_id) for event in events})


def forget_own_feeds(events: Sequence[OneSided]) -> None:
    """Forget the feed of somebody who ended a follow, or changed a mute or a block of a server, and what their streams
    remember. It is built again, without or with the posts in question, when they look. The other one's feed is none of
    theirs to throw away. Raises RedisError.
    """
    _forget({event.account_id for event in events})


def forget_both_feeds(events: Sequence[AccountBlocked | AccountUnblocked]) -> None:
    """As `forget_own_feeds`, on both sides: after a block neither sees the other. Raises RedisError."""
    _forget({account for event in events for account in (event.account_id, event.target_id)})


def _forget(account_ids: Collection[int]) -> None:
    feed.drop(map(feed.home, account_ids))
    announce_relations(account_ids)


def end_streams_of_tokens(events: Sequence[TokenRevoked]) -> None:
    """Close the streams of revoked tokens (security row 23), again if the revoking process could not."""
    for event in events:
        end_token(event.token_id)


def review_streams_of_users(events: Sequence[UserStateChanged]) -> None:
    """Have the streams of changed users looked at: those of disabled ones close."""
    for event in events:
        review_user(event.user_id)
