"""Subscribes to the events that change feeds, streams and the search index."""

from accounts import events as account_events
from social.kernel.events import on
from statuses import events as status_events
from timelines.events import AuthorOutdated, ConversationChanged, DocumentsOutdated, ListChanged
from timelines.services import fan_out, invalidation
from timelines.services.conversations import leave_conversations, withdraw_from_conversations
from timelines.services.lists import leave_lists
from timelines.services.search_index import index_posts, remove_posts, renew_documents, review_authors
from timelines.tasks.streaming import stream_conversations, stream_encrypted_messages

_FEEDS_QUEUE = "feeds"
_SEARCH_QUEUE = "search"

on(status_events.StatusPublished, fan_out.fan_out_posts, queue=_FEEDS_QUEUE)
on(status_events.StatusEdited, fan_out.fan_out_edits, queue=_FEEDS_QUEUE)
on(status_events.QuotePolicyChanged, fan_out.fan_out_edits, queue=_FEEDS_QUEUE)
on(status_events.QuoteSettled, fan_out.fan_out_edits, queue=_FEEDS_QUEUE)
on(status_events.StatusFetched, fan_out.add_fetched, queue=_FEEDS_QUEUE)
on(status_events.StatusJoinedThread, fan_out.fan_out_joined, queue=_FEEDS_QUEUE)
on(status_events.StatusDeleted, fan_out.withdraw_posts, queue=_FEEDS_QUEUE)
on(status_events.CardAttached, fan_out.show_cards, queue=_FEEDS_QUEUE)
on(account_events.AccountFollowed, invalidation.forget_followers_feeds, queue=_FEEDS_QUEUE)
on(account_events.FollowChanged, invalidation.forget_followers_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnfollowed, invalidation.forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnfollowed, leave_lists, queue=_FEEDS_QUEUE)
on(account_events.TagFollowed, invalidation.forget_tag_followers_feeds, queue=_FEEDS_QUEUE)
on(account_events.TagUnfollowed, invalidation.forget_tag_followers_feeds, queue=_FEEDS_QUEUE)
on(ListChanged, invalidation.forget_list_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountBlocked, invalidation.forget_both_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnblocked, invalidation.forget_both_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountMuted, invalidation.forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnmuted, invalidation.forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.AccountUnsuspended, invalidation.forget_all_feeds, queue=_FEEDS_QUEUE)
on(
    account_events.EncryptedMessageStored,
    stream_encrypted_messages,
    queue=_FEEDS_QUEUE,
    name="timelines.services.encrypted_messages.broadcast_encrypted_messages",  # rows of earlier releases have this name
)
on(status_events.FiltersChanged, invalidation.publish_filters_changed, queue=_FEEDS_QUEUE)
on(account_events.DomainBlocked, invalidation.forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.DomainUnblocked, invalidation.forget_own_feeds, queue=_FEEDS_QUEUE)
on(account_events.TokenRevoked, invalidation.end_streams_of_tokens, queue=_FEEDS_QUEUE)
on(account_events.UserStateChanged, invalidation.review_streams_of_users, queue=_FEEDS_QUEUE)
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
