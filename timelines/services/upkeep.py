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
    TokenRevoked,
    UserStateChanged,
)
from accounts.models import User
from timelines.queries.home import Window, list_home_items
from timelines.services.broadcasting import announce_relations, end_token, review_user
from timelines.stores import feed

MERGED_POSTS = 200
"""How many recent posts of somebody newly followed are merged into a feed (contract, behaviours section 11)."""

RelationEvent = AccountUnfollowed | AccountBlocked | AccountUnblocked | AccountMuted | AccountUnmuted


def merge_followed(events: Sequence[AccountFollowed]) -> None:
    """Put the recent posts of somebody newly followed into the follower's feed, as far as the feed reaches back.

    When those are more than 200 the feed is forgotten instead, and built again with all of them when it is looked at: a
    feed never lacks what SQL would show. Raises RedisError.
    """
    local = set(
        User.objects.filter(account_id__in={event.account_id for event in events}).values_list("account_id", flat=True)
    )
    for event in events:
        if event.account_id not in local:
            continue
        lowest = feed.lowest(event.account_id)
        if lowest is None:
            # Somebody may be building it from what they read before the follow.
            feed.drop([event.account_id])
            continue
        window = Window(MERGED_POSTS + 1, after=lowest.id)
        posts = list_home_items(event.account_id, window, author_id=event.target_id)
        if len(posts) > MERGED_POSTS:
            feed.drop([event.account_id])
        elif posts:
            feed.add({event.account_id: posts})


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
