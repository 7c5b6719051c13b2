"""Subscriptions of federation: the events of all apps, and the reactions that send activities to other servers or fetch
documents from them.
"""

from accounts import events
from federation.archives.working import work_off_past_imports
from federation.events import (
    ActivityReceived,
    FeatureAnswerDue,
    FollowAnswerDue,
    ForwardingDue,
    InteractionRefused,
    QuoteAnswerDue,
    ServerPurgeDue,
    UnknownFollowFound,
)
from federation.inbound.fetch_queue import FETCHES, LOOKUPS, THREADS
from federation.outbound import distributing, featuring, forwarding, quoting, requesting, synchronizing
from federation.outbound.delivering import DELIVERIES
from federation.outbound.reporting import send_reports
from federation.remote.held import publish_approved
from federation.remote.requests import request_first_posts
from federation.remote.servers import go_on_purging
from federation.tasks.processing import process_received
from moderation.events import ReportFiled
from social.kernel.events import on
from statuses.events import (
    HeldPostApproved,
    InteractionRequested,
    InteractionSettled,
    PollEnded,
    PollVoted,
    PollVotesDue,
    QuotePolicyChanged,
    QuoteSettled,
    StatusDeleted,
    StatusEdited,
    StatusFavourited,
    StatusPinChanged,
    StatusPublished,
    StatusUnfavourited,
)

# Reactions only write rows of deliveries, so they must not wait in the queue behind deliveries that are being sent.
QUEUE = "default"

on(events.PastImportDue, work_off_past_imports, queue="past", batch=1, seconds=3600)
on(StatusPublished, distributing.send_published, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusEdited, distributing.send_edited, queue=QUEUE, database=True, when=lambda event: event.local)
on(HeldPostApproved, publish_approved, queue=QUEUE, batch=1)
on(QuotePolicyChanged, distributing.send_edited, queue=QUEUE, database=True)
on(PollVotesDue, distributing.send_poll_votes, queue=QUEUE, database=True)
on(PollEnded, distributing.send_poll_ended, queue=QUEUE, database=True)
on(PollVoted, distributing.send_voted, queue=QUEUE, database=True)
on(StatusDeleted, distributing.send_deleted, queue=QUEUE, database=True, when=lambda event: event.local)
on(StatusFavourited, distributing.send_favourited, queue=QUEUE, database=True, when=lambda event: not event.local)
on(StatusUnfavourited, distributing.send_unfavourited, queue=QUEUE, database=True, when=lambda event: not event.local)
on(StatusPinChanged, featuring.send_pins, queue=QUEUE, database=True, when=lambda event: event.local)
on(events.FeaturedTagChanged, featuring.send_featured_tags, queue=QUEUE, database=True, when=lambda event: event.local)
on(events.CollectionListed, featuring.send_listed, queue=QUEUE, database=True)
on(events.CollectionChanged, featuring.send_collections, queue=QUEUE, database=True)
on(
    events.CollectionItemAdded,
    featuring.send_items_added,
    queue=QUEUE,
    database=True,
    when=lambda event: not event.at_creation,
)
on(events.CollectionItemAdded, featuring.send_feature_requests, queue=QUEUE, database=True)
on(events.CollectionItemRemoved, featuring.send_items_removed, queue=QUEUE, database=True)
on(events.CollectionItemRemoved, featuring.send_withdrawn, queue=QUEUE, database=True, when=lambda event: event.left)
on(FeatureAnswerDue, featuring.send_feature_answers, queue=QUEUE, database=True)
on(events.FollowRequested, distributing.send_follow_requested, queue=QUEUE, database=True)
on(events.FollowsToRenew, distributing.send_follows_again, queue=QUEUE, database=True)
on(events.AccountFollowed, distributing.send_followed, queue=QUEUE, database=True)
on(events.AccountUnfollowed, distributing.send_unfollowed, queue=QUEUE, database=True)
on(events.AccountBlocked, distributing.send_blocked, queue=QUEUE, database=True)
on(events.AccountUnblocked, distributing.send_unblocked, queue=QUEUE, database=True)
on(events.ProfileUpdated, distributing.send_profile, queue=QUEUE, database=True)
on(events.AccountFollowed, request_first_posts, queue=QUEUE, database=True)
on(events.AccountMoved, distributing.send_moved, queue=QUEUE, database=True, when=lambda event: event.local)
on(events.AccountDeleted, distributing.send_account_deleted, queue=QUEUE, database=True, when=lambda event: event.local)
on(QuoteSettled, distributing.send_edited, queue=QUEUE, database=True)
on(QuoteSettled, quoting.send_revoked, queue=QUEUE, database=True)
on(QuoteAnswerDue, quoting.send_quote_answers, queue=QUEUE, database=True)
on(InteractionRequested, requesting.send_requests, queue=QUEUE, database=True)
on(InteractionSettled, requesting.send_answers, queue=QUEUE, database=True)
on(InteractionRefused, requesting.send_refusals, queue=QUEUE, database=True)
on(ForwardingDue, forwarding.send_forwarded, queue=QUEUE, database=True)
on(UnknownFollowFound, synchronizing.send_unknown_follows_ended, queue=QUEUE, database=True)
on(FollowAnswerDue, distributing.send_answer, queue=QUEUE, database=True)
on(ReportFiled, send_reports, queue=QUEUE, database=True, when=lambda event: event.forwarded)
on(ActivityReceived, process_received, queue="ingress", batch=5, seconds=120)
DELIVERIES.subscribe()
FETCHES.subscribe()
THREADS.subscribe()
LOOKUPS.subscribe()
on(ServerPurgeDue, go_on_purging, queue=QUEUE)
