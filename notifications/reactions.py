"""Subscriptions: which event creates which notifications."""

from typing import Any, Final

from accounts import events as account_events
from moderation.events import ReportFiled, StrikeIssued
from notifications import events
from notifications.senders.mails import MAILINGS, queue_mails
from notifications.senders.web_push import PUSHES, queue_pushes
from notifications.services import annual_reports, collections, edits, event_handlers, severances
from notifications.services.requests import deliver_held, remove_held
from notifications.tasks.streaming import stream_merges, stream_notifications
from social.kernel.events import on
from statuses import events as status_events

_PLAIN: Final[dict[str, Any]] = {"queue": "notifications"}
_DATABASE: Final[dict[str, Any]] = {**_PLAIN, "database": True}

on(account_events.AccountFollowed, event_handlers.notify_followed, **_DATABASE)
on(account_events.FollowRequested, event_handlers.notify_follow_requested, **_DATABASE)
on(account_events.AccountUnfollowed, event_handlers.forget_follow, **_DATABASE)
on(account_events.AccountBlocked, event_handlers.forget_blocked, **_DATABASE)
on(account_events.DomainBlocked, event_handlers.forget_blocked_domains, **_PLAIN)
on(account_events.AccountMuted, event_handlers.forget_muted, **_DATABASE)
on(status_events.StatusPublished, event_handlers.notify_mentioned, **_DATABASE, when=lambda event: event.mentions)
on(
    status_events.StatusPublished,
    event_handlers.notify_followers,
    **_DATABASE,
    when=lambda event: event.awaited and not event.reblog,
)
on(status_events.StatusEdited, edits.notify_added, **_DATABASE, when=lambda event: event.first_mention_id is not None)
on(status_events.StatusEdited, edits.notify_boosters, **_DATABASE)
on(status_events.StatusEdited, edits.notify_quoters, **_DATABASE)
# `name` is the handler's name in outbox rows that earlier releases have written.
on(
    events.BoostersWaiting,
    edits.notify_boosters,
    **_DATABASE,
    batch=1,
    name="notifications.services.edits.notify_more_boosters",
)
on(
    events.QuotersWaiting,
    edits.notify_quoters,
    **_DATABASE,
    batch=1,
    name="notifications.services.edits.notify_more_quoters",
)
on(events.FollowersWaiting, event_handlers.notify_more_followers, **_DATABASE, batch=1)
on(status_events.StatusQuoted, event_handlers.notify_quoted, **_DATABASE)
on(status_events.StatusReblogged, event_handlers.notify_reblogged, **_DATABASE)
# Remote accounts are notified by their own server.
on(status_events.StatusFavourited, event_handlers.notify_favourited, **_DATABASE, when=lambda event: event.local)
on(status_events.StatusUnfavourited, event_handlers.forget_favourite, **_DATABASE, when=lambda event: event.local)
on(status_events.StatusDeleted, event_handlers.forget_status, **_DATABASE)
on(status_events.PollEnded, event_handlers.notify_poll_ended, **_DATABASE, batch=1)
_VOTERS_REACTION: Final = "notifications.services.event_handlers.notify_more_voters"
on(events.VotersWaiting, event_handlers.notify_poll_ended, **_DATABASE, batch=1, name=_VOTERS_REACTION)
on(account_events.UserActivated, event_handlers.notify_signed_up, **_DATABASE)
on(ReportFiled, event_handlers.notify_reported, **_DATABASE, when=lambda event: event.notify)
on(StrikeIssued, event_handlers.notify_warned, **_DATABASE, when=lambda event: event.notify)
on(account_events.CollectionItemAdded, collections.notify_added, **_DATABASE)
on(account_events.CollectionChanged, collections.notify_changed, **_DATABASE, when=lambda event: event.renamed)
on(account_events.CollectionItemRemoved, collections.forget_removed, **_DATABASE)
on(account_events.FollowsSevered, severances.notify_severed, **_DATABASE, batch=1)
_SEVERED_REACTION: Final = "notifications.services.severances.notify_more_severed"
on(events.SeveredWaiting, severances.notify_severed, **_DATABASE, batch=1, name=_SEVERED_REACTION)
on(events.AnnualReportRequested, annual_reports.write_reports, **_DATABASE, batch=1, seconds=60)
on(events.NotificationMade, stream_notifications, **_PLAIN)
_PUSHING: Final = "notifications.services.pushing.queue_pushes"
on(events.NotificationMade, queue_pushes, **_DATABASE, name=_PUSHING)
PUSHES.subscribe()
on(events.NotificationMade, queue_mails, **_DATABASE)
MAILINGS.subscribe()
on(events.RequestAccepted, deliver_held, **_DATABASE)
on(events.RequestDismissed, remove_held, **_DATABASE)
on(events.NotificationsMerged, stream_merges, **_PLAIN)
