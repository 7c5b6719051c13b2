"""Subscriptions of federation: the events of all apps, and the reactions to them."""

from typing import Any, Final

from accounts import events as account_events
from federation import events
from federation.archives.working import work_off_past_imports
from federation.inbound.fetch_queue import FETCHES, LOOKUPS, THREADS
from federation.inbound.processing import process_received
from federation.outbound import distributing, featuring, forwarding, quoting, requesting, synchronizing
from federation.outbound.delivering import DELIVERIES
from federation.outbound.reporting import send_reports
from federation.remote.held import publish_approved
from federation.remote.requests import request_first_posts
from federation.remote.servers import go_on_purging
from moderation.events import ReportFiled
from social.kernel.events import on
from statuses import events as status_events

# Reactions only write rows of deliveries, so they must not wait in the queue behind deliveries that are being sent.
_PLAIN: Final[dict[str, Any]] = {"queue": "default"}
_DATABASE: Final[dict[str, Any]] = {**_PLAIN, "database": True}

on(account_events.PastImportDue, work_off_past_imports, queue="past", batch=1, seconds=3600)
on(status_events.StatusPublished, distributing.send_published, **_DATABASE, when=lambda event: event.local)
on(status_events.StatusEdited, distributing.send_edited, **_DATABASE, when=lambda event: event.local)
on(status_events.HeldPostApproved, publish_approved, **_PLAIN, batch=1)
on(status_events.QuotePolicyChanged, distributing.send_edited, **_DATABASE)
on(status_events.PollVotesDue, distributing.send_poll_votes, **_DATABASE)
on(status_events.PollEnded, distributing.send_poll_ended, **_DATABASE)
on(status_events.PollVoted, distributing.send_voted, **_DATABASE)
on(status_events.StatusDeleted, distributing.send_deleted, **_DATABASE, when=lambda event: event.local)
on(status_events.StatusFavourited, distributing.send_favourited, **_DATABASE, when=lambda event: not event.local)
on(status_events.StatusUnfavourited, distributing.send_unfavourited, **_DATABASE, when=lambda event: not event.local)
on(status_events.StatusPinChanged, featuring.send_pins, **_DATABASE, when=lambda event: event.local)
on(account_events.FeaturedTagChanged, featuring.send_featured_tags, **_DATABASE, when=lambda event: event.local)
on(account_events.CollectionListed, featuring.send_listed, **_DATABASE)
on(account_events.CollectionChanged, featuring.send_collections, **_DATABASE)
on(
    account_events.CollectionItemAdded,
    featuring.send_items_added,
    **_DATABASE,
    when=lambda event: not event.at_creation,
)
on(account_events.CollectionItemAdded, featuring.send_feature_requests, **_DATABASE)
on(account_events.CollectionItemRemoved, featuring.send_items_removed, **_DATABASE)
on(account_events.CollectionItemRemoved, featuring.send_withdrawn, **_DATABASE, when=lambda event: event.left)
on(events.FeatureAnswerDue, featuring.send_feature_answers, **_DATABASE)
on(account_events.FollowRequested, distributing.send_follow_requested, **_DATABASE)
on(account_events.FollowsToRenew, distributing.send_follows_again, **_DATABASE)
on(account_events.AccountFollowed, distributing.send_followed, **_DATABASE)
on(account_events.AccountUnfollowed, distributing.send_unfollowed, **_DATABASE)
on(account_events.AccountBlocked, distributing.send_blocked, **_DATABASE)
on(account_events.AccountUnblocked, distributing.send_unblocked, **_DATABASE)
on(account_events.ProfileUpdated, distributing.send_profile, **_DATABASE)
on(account_events.AccountFollowed, request_first_posts, **_DATABASE)
on(account_events.AccountMoved, distributing.send_moved, **_DATABASE, when=lambda event: event.local)
on(account_events.AccountDeleted, distributing.send_account_deleted, **_DATABASE, when=lambda event: event.local)
on(status_events.QuoteSettled, distributing.send_edited, **_DATABASE)
on(status_events.QuoteSettled, quoting.send_revoked, **_DATABASE)
on(events.QuoteAnswerDue, quoting.send_quote_answers, **_DATABASE)
on(status_events.InteractionRequested, requesting.send_requests, **_DATABASE)
on(status_events.InteractionSettled, requesting.send_answers, **_DATABASE)
on(events.InteractionRefused, requesting.send_refusals, **_DATABASE)
on(events.ForwardingDue, forwarding.send_forwarded, **_DATABASE)
on(events.UnknownFollowFound, synchronizing.send_unknown_follows_ended, **_DATABASE)
on(events.FollowAnswerDue, distributing.send_answer, **_DATABASE)
on(ReportFiled, send_reports, **_DATABASE, when=lambda event: event.forwarded)
# Outbox rows that earlier releases have written contain this name.
_PROCESSING: Final = "federation.tasks.processing.process_received"
on(events.ActivityReceived, process_received, queue="ingress", batch=5, seconds=120, name=_PROCESSING)
DELIVERIES.subscribe()
FETCHES.subscribe()
THREADS.subscribe()
LOOKUPS.subscribe()
on(events.ServerPurgeDue, go_on_purging, **_PLAIN)
