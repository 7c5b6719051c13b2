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
from notifications.services import telling
from notifications.tasks.streaming import stream_notifications
from social.kernel.events import on
from statuses.events import StatusDeleted, StatusFavourited, StatusPublished, StatusReblogged, StatusUnfavourited

QUEUE = "notifications"

on(AccountFollowed, telling.tell_followed, queue=QUEUE, database=True)
on(FollowRequested, telling.tell_follow_requested, queue=QUEUE, database=True)
on(AccountUnfollowed, telling.forget_follow, queue=QUEUE, database=True)
on(AccountBlocked, telling.forget_blocked, queue=QUEUE, database=True)
on(DomainBlocked, telling.forget_blocked_domains, queue=QUEUE)
on(AccountMuted, telling.forget_muted, queue=QUEUE, database=True)
on(StatusPublished, telling.tell_mentioned, queue=QUEUE, database=True, when=lambda event: event.mentions)
on(StatusPublished, telling.notify_followers, queue=QUEUE, database=True, when=lambda event: not event.reblog)
on(FollowersWaiting, telling.notify_more_followers, queue=QUEUE, database=True, batch=1)
on(StatusReblogged, telling.tell_reblogged, queue=QUEUE, database=True)
# Of a post of another server its own server tells.
on(StatusFavourited, telling.tell_favourited, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusUnfavourited, telling.forget_favourite, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusDeleted, telling.forget_status, queue=QUEUE, database=True)
on(NotificationMade, stream_notifications, queue=QUEUE)
