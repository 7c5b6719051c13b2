"""Keeps feeds and streams right when people follow, block and mute, or lose what opened a stream."""

from __future__ import annotations

from collections.abc import Sequence

from accounts.events import (
    AccountBlocked,
    AccountFollowed,
    AccountMuted,
    AccountUnblocked,
    AccountUnfollowed,
    AccountUnmuted,
    FollowChanged,
    TokenRevoked,
    UserStateChanged,
)
from timelines.services.broadcasting import announce_relations, end_token, review_user
from timelines.stores import feed

RelationEvent = AccountUnfollowed | AccountBlocked | AccountUnblocked | AccountMuted | AccountUnmuted


def forget_followers_feeds(events: Sequence[AccountFollowed | FollowChanged]) -> None:
    """Forget the feed of somebody who follows somebody new, or in another way; it is built again when it is looked at.

    Adding the new posts alone would not do: what others have answered to the one now followed belongs into the home
    timeline from now on as well, and a feed never lacks what SQL would show. Raises RedisError.
    """
    feed.drop({event.account_id for event in events})


def forget_feeds(events: Sequence[RelationEvent]) -> None:
    """Forget the feeds that an ended follow, a block or a mute touches, on both sides, and what streams remember of
    them.

    They are built again, without or with the posts in question, when somebody looks. Raises RedisError.
    """
    accounts = {account for event in events for account in (event.account_id, event.target_id)}
    feed.drop(accounts)
    announce_relations(accounts)


def end_streams_of_tokens(events: Sequence[TokenRevoked]) -> None:
    """Close the streams of revoked tokens (security row 23), again if the revoking process could not."""
    for event in events:
        end_token(event.token_id)


def review_streams_of_users(events: Sequence[UserStateChanged]) -> None:
    """Have the streams of changed users looked at: those of disabled ones close."""
    for event in events:
        review_user(event.user_id)
