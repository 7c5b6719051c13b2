"""When X is announced, do Y: what timelines and streams hear of."""

from __future__ import annotations

from accounts.events import (
    AccountBlocked,
    AccountFollowed,
    AccountMuted,
    AccountUnblocked,
    AccountUnfollowed,
    AccountUnmuted,
    DomainBlocked,
    DomainUnblocked,
    EncryptedMessageStored,
    FollowChanged,
    TokenRevoked,
    UserStateChanged,
)
from social.kernel.events import on
from statuses.events import StatusDeleted, StatusJoinedThread, StatusPublished
from timelines.services.encrypted_messages import broadcast_encrypted_messages
from timelines.services.fan_out import fan_out_joined, fan_out_posts, withdraw_posts
from timelines.services.invalidation import (
    end_streams_of_tokens,
    forget_both_feeds,
    forget_followers_feeds,
    forget_own_feeds,
    review_streams_of_users,
)

_QUEUE = "feeds"

on(StatusPublished, fan_out_posts, queue=_QUEUE)
on(StatusJoinedThread, fan_out_joined, queue=_QUEUE)
on(StatusDeleted, withdraw_posts, queue=_QUEUE)
on(AccountFollowed, forget_followers_feeds, queue=_QUEUE)
on(FollowChanged, forget_followers_feeds, queue=_QUEUE)
on(AccountUnfollowed, forget_own_feeds, queue=_QUEUE)
on(AccountBlocked, forget_both_feeds, queue=_QUEUE)
on(AccountUnblocked, forget_both_feeds, queue=_QUEUE)
on(AccountMuted, forget_own_feeds, queue=_QUEUE)
on(AccountUnmuted, forget_own_feeds, queue=_QUEUE)
on(EncryptedMessageStored, broadcast_encrypted_messages, queue=_QUEUE)
on(DomainBlocked, forget_own_feeds, queue=_QUEUE)
on(DomainUnblocked, forget_own_feeds, queue=_QUEUE)
on(TokenRevoked, end_streams_of_tokens, queue=_QUEUE)
on(UserStateChanged, review_streams_of_users, queue=_QUEUE)
