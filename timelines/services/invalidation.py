"""Updates feeds and streams after follows, blocks and mutes, and when a token or user loses access."""

from collections.abc import Collection, Sequence

from accounts import events as account_events
from statuses.events import FiltersChanged
from timelines.events import ListChanged
from timelines.queries.lists import load_list_ids
from timelines.services.broadcasting import broadcast_to_account, end_token, publish_relations_changed, review_user
from timelines.services.home import forget_feeds
from timelines.stores import feed
from timelines.stores.messages import Event

OneSided = (
    account_events.AccountUnfollowed
    | account_events.AccountMuted
    | account_events.AccountUnmuted
    | account_events.DomainBlocked
    | account_events.DomainUnblocked
)


def forget_followers_feeds(events: Sequence[account_events.AccountFollowed | account_events.FollowChanged]) -> None:
    """Drop the feeds of accounts that have followed another account or changed a follow. Their feeds may now lack posts by the
    followed account, and replies to these posts by other followed accounts. Raises RedisError.
    """
    _drop_feeds({event.account_id for event in events})


def forget_tag_followers_feeds(events: Sequence[account_events.TagFollowed | account_events.TagUnfollowed]) -> None:
    """Drop the home feeds of accounts that follow or unfollow a hashtag. Raises RedisError."""
    readers = {event.account_id for event in events}
    forget_feeds({*map(feed.home, readers)}, readers)


def forget_all_feeds(events: Sequence[account_events.AccountUnsuspended]) -> None:
    """Drop all feeds, which may lack the posts, boosts and replies of the unsuspended accounts. Raises RedisError."""
    feed.drop_all()


def forget_list_feeds(events: Sequence[ListChanged]) -> None:
    """Drop the feeds of changed lists and, if they are or were exclusive, their owners' home feeds. Raises RedisError."""
    forget_feeds(
        {
            *(feed.of_list(event.list_id) for event in events),
            *(feed.home(event.account_id) for event in events if event.concerns_home),
        },
        {event.account_id for event in events},
    )


def forget_own_feeds(events: Sequence[OneSided]) -> None:
    """Drop the feeds of accounts that ended a follow or changed a mute or a domain block. Raises RedisError."""
    _forget({event.account_id for event in events})


def forget_both_feeds(events: Sequence[account_events.AccountBlocked | account_events.AccountUnblocked]) -> None:
    """Drop the feeds of both accounts, because after a block neither account sees the other. Raises RedisError."""
    _forget({account for event in events for account in (event.account_id, event.target_id)})


def _forget(account_ids: Collection[int]) -> None:
    _drop_feeds(account_ids)
    publish_relations_changed(account_ids)


def _drop_feeds(account_ids: Collection[int]) -> None:
    forget_feeds({*map(feed.home, account_ids), *map(feed.of_list, load_list_ids(account_ids))}, account_ids)


def publish_filters_changed(events: Sequence[FiltersChanged]) -> None:
    """Publish `filters_changed` on the owners' `user` streams, and make all their streams reload the filters."""
    account_ids = {event.account_id for event in events}
    publish_relations_changed(account_ids)
    for account_id in account_ids:
        broadcast_to_account(account_id, Event.FILTERS_CHANGED, None)


def end_streams_of_tokens(events: Sequence[account_events.TokenRevoked]) -> None:
    """Close the streams of revoked tokens (security row 23), in case the revoking process could not close them."""
    for event in events:
        end_token(event.token_id)


def review_streams_of_users(events: Sequence[account_events.UserStateChanged]) -> None:
    """Check the streams of changed users again, and close the streams of disabled users."""
    for event in events:
        review_user(event.user_id)
