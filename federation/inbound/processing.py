"""Processes stored activities: chooses a handler by the type of the activity (contract, federation sections 7 and 11)."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from django.db import DatabaseError, InterfaceError, OperationalError, transaction

from accounts.services import instance_actor, remote_accounts
from federation.documents.reading import kind_of, many, parse, uri_of
from federation.events import ActivityReceived
from federation.inbound import (
    collections,
    featuring,
    flag,
    forwarded,
    interactions,
    posts,
    quotes,
    relationships,
    requests,
    undo,
)
from federation.inbound.incoming import Incoming
from federation.models import InboundActivity, Tombstone
from federation.reasons import Reason, Rejected
from federation.remote.fetching import Awaited, Gathered
from federation.remote.requests import request_actors, request_for
from social.kernel import clock, events, lengths, reasons, refusals
from social.kernel.errors import KernelError, Unavailable
from social.kernel.plans import Plan, Slot
from social.kernel.reasons import Reason as KernelReason

logger = logging.getLogger("social.federation")

ATTEMPTS: Final = 8
ACTIVITIES_LIMIT: Final = 20
TOMBSTONE_LIFETIME: Final = timedelta(days=365)
_BATCH_SIZE: Final = 1000
_OUTCOME_LENGTH: Final = 500
_COLLECTIONS: Final = {"Collection": "items", "OrderedCollection": "orderedItems"}
# Types of activities that may have several objects: GoToSocial sends a vote for several options as one Create. A Like or a
# Follow counts only for its first object, because the id of the activity belongs to one object.
_REPEATED_KINDS: Final = frozenset({"Create", "Update", "Delete", "Undo", "Add", "Remove"})

_UNPROCESSED: Final = Plan(
    lambda: InboundActivity.objects.select_related("actor", "recipient").filter(
        id=Slot("id", InboundActivity._meta.pk), processed_at=None
    )
)
Handler = Callable[[Incoming], object]


HANDLERS: Final[Mapping[str, Handler]] = {
    "Accept": relationships.handle_accept,
    "Add": featuring.handle_add,
    "Announce": interactions.handle_announce,
    "AnnounceRequest": requests.handle_request,
    "Block": relationships.handle_block,
    "Create": posts.handle_create,
    "Delete": posts.handle_delete,
    "FeatureRequest": collections.handle_request,
    "Flag": flag.handle,
    "Follow": relationships.handle_follow,
    "Like": interactions.handle_like,
    "LikeRequest": requests.handle_request,
    "Move": relationships.handle_move,
    "QuoteRequest": quotes.handle_request,
    "Reject": relationships.handle_reject,
    "Remove": featuring.handle_remove,
    "ReplyRequest": requests.handle_request,
    "Undo": undo.handle,
    "Update": posts.handle_update,
}


def is_acted_upon(kind: str) -> bool:
    """Tell whether activities of this type are processed. Other activities get the same response, but are not even stored."""
    return kind in HANDLERS or kind in _COLLECTIONS


def process_received(events: Sequence[ActivityReceived]) -> None:
    """Process stored activities in order."""
    for event in events:
        process(event.activity_id)


def process(activity_id: int) -> None:
    """Run `act_upon` without network access: an activity that needs the network is left to the fetch queue."""
    try:
        with Gathered().in_use():
            act_upon(activity_id)
    except Awaited as awaited:
        activity = InboundActivity.objects.select_related("actor").filter(id=activity_id).first()
        if activity is None:
            return
        try:
            request_for(activity, awaited.host)
        except Unavailable as error:
            _try_again(activity, str(error))


def act_upon(activity_id: int) -> None:
    """Process a stored activity once, and store the outcome in its row.

    If the sender is at fault, the activity is not tried again. A temporary failure is retried up to ATTEMPTS times with
    exponential back-off; other activities of the actor do not wait for it. Raises only database errors that make it impossible
    to store anything, and Awaited for a document that has not been fetched yet.
    """
    activity = _UNPROCESSED.first(id=activity_id)
    if activity is None:
        return
    recipient = activity.recipient
    if recipient is not None and recipient.uri == instance_actor.instance_actor_uri():
        recipient = None
    if remote_accounts.is_stale(activity.actor):
        request_actors([activity.actor])
    try:
        with reasons.count_left_out() as left_out:
            _act(Incoming(activity.actor, parse(activity.body.encode()), recipient))
    except Rejected as refused:
        _finish(activity, f"rejected: {refused}", {refused.reason: 1})
    except Unavailable as error:
        _try_again(activity, str(error))
    except KernelError as error:
        _finish(activity, f"refused: {error}", {Reason.REFUSED_BY_SERVICE: 1})
    except (OperationalError, InterfaceError, Awaited):
        raise
    except Exception as error:
        if isinstance(error, DatabaseError) and lengths.is_refused_value(error):
            logger.exception("Inbound activity %d (%s) has a value that no check refused", activity.id, activity.type)
            _finish(activity, f"rejected: {Reason.VALUE_TOO_LONG}", {Reason.VALUE_TOO_LONG: 1})
            return
        logger.exception("Inbound activity %d (%s) failed", activity.id, activity.type)
        _try_again(activity, f"{type(error).__name__}: {error}")
    else:
        _finish(activity, "done", left_out)


def _act(incoming: Incoming) -> None:
    refused: Rejected | None = None
    for document in _activities_in(incoming.document):
        try:
            _act_alone(replace(incoming, document=document))
        except Rejected as reason:
            # The activities after a rejected activity are still processed.
            if refused is not None:
                reasons.leave_out(refused.reason)
            refused = reason
    if refused is not None:
        raise refused


def _activities_in(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the activities in a collection, or else the activity itself, once for each of its objects."""
    collection = kind_of(document, _COLLECTIONS)
    if collection is not None:
        items = many(document.get(_COLLECTIONS[collection]))[:ACTIVITIES_LIMIT]
        return [item for item in items if isinstance(item, dict)]
    objects = document.get("object")
    if isinstance(objects, list) and len(objects) > 1 and kind_of(document, _REPEATED_KINDS) is not None:
        return [{**document, "object": item} for item in objects[:ACTIVITIES_LIMIT]]
    return [document]


def _act_alone(incoming: Incoming) -> None:
    kind = kind_of(incoming.document, HANDLERS)
    if kind is None:
        raise Rejected(Reason.IGNORED_KIND)
    incoming = replace(incoming, kind=kind)
    actor = incoming.document.get("actor")
    # If the activity names no actor, its signer counts as the actor (contract, federation section 7 "FeatureRequest").
    if actor is None or uri_of(actor) == incoming.actor.uri:
        HANDLERS[kind](incoming)
    else:
        forwarded.handle(incoming)


def _finish(activity: InboundActivity, outcome: str, refused: Mapping[KernelReason, int]) -> None:
    # The update finds no row if the actor was deleted in the meantime, together with its activities.
    InboundActivity.objects.filter(id=activity.id).update(
        processed_at=clock.now(), outcome=_shortened(outcome), attempts=activity.attempts + 1, body=""
    )
    refusals.count_refusals(activity.host, refused)


def _try_again(activity: InboundActivity, reason: str) -> None:
    attempts = activity.attempts + 1
    if attempts >= ATTEMPTS:
        _finish(activity, f"failed: {reason}", {Reason.GIVEN_UP: 1})
        return
    with transaction.atomic():
        unfinished = InboundActivity.objects.filter(id=activity.id)
        if not unfinished.update(attempts=attempts, outcome=_shortened(f"waiting: {reason}")):
            return  # The actor was deleted in the meantime.
        events.publish(
            ActivityReceived(activity_id=activity.id, actor_id=activity.actor_id),
            due_at=clock.now() + timedelta(seconds=15 * 2**attempts),
        )


def _shortened(text: str) -> str:
    return text.replace("\0", "")[:_OUTCOME_LENGTH]


def forget_processed(older_than: timedelta = timedelta(days=1)) -> int:
    """Remove activities processed longer than `older_than` ago, which are too old for a replay; return how many."""
    removed, _rows = InboundActivity.objects.filter(processed_at__lt=clock.now() - older_than).delete()
    return removed


def forget_tombstones() -> int:
    """Remove the tombstones that are older than TOMBSTONE_LIFETIME; return how many. A Create from that time is too old to be
    accepted, and a fetch shows that the object is gone (contract, federation section 7).
    """
    removed = 0
    while True:
        # The rows are ordered by id, which is nearly the order of `created_at`, because `created_at` has no index.
        oldest = list(Tombstone.objects.order_by("id").values_list("id", "created_at")[:_BATCH_SIZE])
        old = [number for number, created_at in oldest if created_at < clock.now() - TOMBSTONE_LIFETIME]
        Tombstone.objects.filter(id__one_of=old).delete()
        removed += len(old)
        if len(old) < _BATCH_SIZE:
            return removed


def forget_undone() -> int:
    """Remove the expired tombstones of objects that were deleted or undone before they arrived; return how many."""
    removed, _rows = Tombstone.objects.filter(expires_at__lt=clock.now()).delete()
    return removed
