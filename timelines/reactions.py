"""Subscribes to the events that change feeds, streams and the search index."""

from __future__ import annotations

from accounts import events as account_events
from social.kernel.events import on
from statuses import events as status_events
from timelines.events import AuthorOutdated, ConversationChanged, DocumentsOutdated, ListChanged
from timelines.services.conversations import leave_conversations, withdraw_from_conversations
from timelines.services.encrypted_messages import broadcast_encrypted_messages
from timelines.services.fan_out import (
    add_fetched,
    fan_out_edits,
    fan_out_joined,
    fan_out_posts,
    show_cards,
    withdraw_posts,
)
from timelines.services.invalidation import (
    end_streams_of_tokens,
    forget_all_feeds,
    forget_both_feeds,
    forget_followers_feeds,
    forget_list_feeds,
    forget_own_feeds,
    forget_tag_followers_feeds,
    publish_filters_changed,
    review_streams_of_users,
)
from timelines.services.lists import leave_lists
from timelines.services.search_index import index_posts, remove_posts, renew_documents, review_authors
from timelines.tasks.streaming import stream_conversations

_FEEDS_QUEUE = "feeds"
_SEARCH_QUEUE = "search"

on(status_events.StatusPublished, fan_out_posts, queue=_FEEDS_QUEUE)
on(status_events.StatusEdited, fan_out_edits, queue=_FEEDS_QUEUE)
on(status_events.QuotePolicyChanged, fan_out_edits, queue=_FEEDS_QUEUE)
on(status_events.QuoteSettled, fan_out_edits, queue=_FEEDS_QUEUE)
on(status_events.StatusFetched, add_fetched, queue=_FEEDS_QUEUE)
on(status_events.StatusJoinedThread, fan_out_joined, queue=_FEEDS_QUEUE)
on(status_events.StatusDeleted, withdraw_posts, queue=_FEEDS_QUEUE)
on(status_events.CardAttached, show_cards, queue=_FEEDS_QUEUE)
on(account_events.AccountFollowed, forget_followers_feeds, queue=_FEEDS_QUEUE)
on(account_events.FollowChanged, forget_followers_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnfollowed, forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnfollowed, leave_lists, queue=_FEEDS_QUEUE)
on(account_events.TagFollowed, forget_tag_followers_feeds, queue=_FEEDS_QUEUE)
on(account_events.TagUnfollowed, forget_tag_followers_feeds, queue=_FEEDS_QUEUE)
on(ListChanged, forget_list_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountBlocked, forget_both_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnblocked, forget_both_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountMuted, forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnmuted, forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnsuspended, forget_all_feeds, queue=_FEEDS_QUEUE)
on(account_events.EncryptedMessageStored, broadcast_encrypted_messages, queue=_FEEDS_QUEUE)
on(status_events.FiltersChanged, publish_filters_changed, queue=_FEEDS_QUEUE)
on(account_events.DomainBlocked, forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.DomainUnblocked, forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.TokenRevoked, end_streams_of_tokens, queue=_FEEDS_QUEUE)
on(account_events.UserStateChanged, review_streams_of_users, queue=_FEEDS_QUEUE)
on(
    status_events.StatusDeleted,
    withdraw_from_conversations,
    queue=_FEEDS_QUEUE,
    database=True,
    when=lambda event: event.reblog_of_id is None,
)
on(account_events.AccountBlocked, leave_conversations, queue=_FEEDS_QUEUE, database=True)
on(ConversationChanged, stream_conversations, queue=_FEEDS_QUEUE)

on(status_events.StatusPublished, index_posts, queue=_SEARCH_QUEUE, when=lambda event: not event.reblog)
on(status_events.StatusEdited, index_posts, queue=_SEARCH_QUEUE)
on(status_events.StatusFetched, index_posts, queue=_SEARCH_QUEUE)
on(status_events.StatusImported, index_posts, queue=_SEARCH_QUEUE)
on(status_events.CardAttached, index_posts, queue=_SEARCH_QUEUE)
on(status_events.StatusDeleted, remove_posts, queue=_SEARCH_QUEUE, when=lambda event: event.reblog_of_id is None)
on(account_events.ProfileUpdated, review_authors, queue=_SEARCH_QUEUE)
on(AuthorOutdated, review_authors, queue=_SEARCH_QUEUE)
on(DocumentsOutdated, renew_documents, queue=_SEARCH_QUEUE)
