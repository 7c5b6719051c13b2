"""When X is announced, tell Y."""

from accounts.events import (
    AccountBlocked,
    AccountFollowed,
    AccountMuted,
    AccountUnfollowed,
    DomainBlocked,
    FollowRequested,
)
from notifications.events import FollowersWaiting, NotificationMade
from notifications.services import event_handlers
from notifications.tasks.streaming import stream_notifications
from social.kernel.events import on
from statuses.events import StatusDeleted, StatusFavourited, StatusPublished, StatusReblogged, StatusUnfavourited

QUEUE = "notifications"

on(AccountFollowed, event_handlers.notify_followed, queue=QUEUE, database=True)
on(FollowRequested, event_handlers.notify_follow_requested, queue=QUEUE, database=True)
on(AccountUnfollowed, event_handlers.forget_follow, queue=QUEUE, database=True)
on(AccountBlocked, event_handlers.forget_blocked, queue=QUEUE, database=True)
on(DomainBlocked, event_handlers.forget_blocked_domains, queue=QUEUE)
on(AccountMuted, event_handlers.forget_muted, queue=QUEUE, database=True)
on(StatusPublished, event_handlers.notify_mentioned, queue=QUEUE, database=True, when=lambda event: event.mentions)
on(StatusPublished, event_handlers.notify_followers, queue=QUEUE, database=True, when=lambda event: not event.reblog)
on(FollowersWaiting, event_handlers.notify_more_followers, queue=QUEUE, database=True, batch=1)
on(StatusReblogged, event_handlers.notify_reblogged, queue=QUEUE, database=True)
# Of a post of another server its own server tells.
on(StatusFavourited, event_handlers.notify_favourited, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusUnfavourited, event_handlers.forget_favourite, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusDeleted, event_handlers.forget_status, queue=QUEUE, database=True)
on(NotificationMade, stream_notifications, queue=QUEUE)
