"""Subscriptions: which event creates which notifications."""

from accounts import events as account_events
from moderation.events import ReportFiled, StrikeIssued
from notifications import events
from notifications.senders.mails import MAILINGS, queue_mails
from notifications.senders.web_push import PUSHES
from notifications.services import annual_reports, collections, edits, event_handlers, severances
from notifications.services.pushing import queue_pushes
from notifications.services.requests import deliver_held, remove_held
from notifications.tasks.streaming import stream_merges, stream_notifications
from social.kernel.events import on
from statuses.events import (
    PollEnded,
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusPublished,
    StatusQuoted,
    StatusReblogged,
    StatusUnfavourited,
)

QUEUE = "notifications"

on(account_events.AccountFollowed, event_handlers.notify_followed, queue=QUEUE, database=True)
on(account_events.FollowRequested, event_handlers.notify_follow_requested, queue=QUEUE, database=True)
on(account_events.AccountUnfollowed, event_handlers.forget_follow, queue=QUEUE, database=True)
on(account_events.AccountBlocked, event_handlers.forget_blocked, queue=QUEUE, database=True)
on(account_events.DomainBlocked, event_handlers.forget_blocked_domains, queue=QUEUE)
on(account_events.AccountMuted, event_handlers.forget_muted, queue=QUEUE, database=True)
on(StatusPublished, event_handlers.notify_mentioned, queue=QUEUE, database=True, when=lambda event: event.mentions)
on(
    StatusPublished,
    event_handlers.notify_followers,
    queue=QUEUE,
    database=True,
    when=lambda event: event.awaited and not event.reblog,
)
on(StatusEdited, edits.notify_added, queue=QUEUE, database=True, when=lambda event: event.first_mention_id is not None)
on(StatusEdited, edits.notify_boosters, queue=QUEUE, database=True)
on(StatusEdited, edits.notify_quoters, queue=QUEUE, database=True)
on(events.BoostersWaiting, edits.notify_more_boosters, queue=QUEUE, database=True, batch=1)
on(events.QuotersWaiting, edits.notify_more_quoters, queue=QUEUE, database=True, batch=1)
on(events.FollowersWaiting, event_handlers.notify_more_followers, queue=QUEUE, database=True, batch=1)
on(StatusQuoted, event_handlers.notify_quoted, queue=QUEUE, database=True)
on(StatusReblogged, event_handlers.notify_reblogged, queue=QUEUE, database=True)
# Remote accounts are notified by their own server.
on(StatusFavourited, event_handlers.notify_favourited, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusUnfavourited, event_handlers.forget_favourite, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusDeleted, event_handlers.forget_status, queue=QUEUE, database=True)
on(PollEnded, event_handlers.notify_poll_ended, queue=QUEUE, database=True, batch=1)
on(events.VotersWaiting, event_handlers.notify_more_voters, queue=QUEUE, database=True, batch=1)
on(account_events.UserActivated, event_handlers.notify_signed_up, queue=QUEUE, database=True)
on(ReportFiled, event_handlers.notify_reported, queue=QUEUE, database=True, when=lambda event: event.notify)
on(StrikeIssued, event_handlers.notify_warned, queue=QUEUE, database=True, when=lambda event: event.notify)
on(account_events.CollectionItemAdded, collections.notify_added, queue=QUEUE, database=True)
on(
    account_events.CollectionChanged,
    collections.notify_changed,
    queue=QUEUE,
    database=True,
    when=lambda event: event.renamed,
)
on(account_events.CollectionItemRemoved, collections.forget_removed, queue=QUEUE, database=True)
on(account_events.FollowsSevered, severances.notify_severed, queue=QUEUE, database=True, batch=1)
on(events.SeveredWaiting, severances.notify_more_severed, queue=QUEUE, database=True, batch=1)
on(events.AnnualReportRequested, annual_reports.write_reports, queue=QUEUE, database=True, batch=1, seconds=60)
on(events.NotificationMade, stream_notifications, queue=QUEUE)
on(events.NotificationMade, queue_pushes, queue=QUEUE, database=True)
PUSHES.subscribe()
on(events.NotificationMade, queue_mails, queue=QUEUE, database=True)
MAILINGS.subscribe()
on(events.RequestAccepted, deliver_held, queue=QUEUE, database=True)
on(events.RequestDismissed, remove_held, queue=QUEUE, database=True)
on(events.NotificationsMerged, stream_merges, queue=QUEUE)
