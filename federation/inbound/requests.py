"""Handles requests to interact with posts, answers to them, and withdrawn authorizations (docs/adr/0044)."""

from typing import Any, Final

from django.db import IntegrityError, transaction

from federation.documents.context import visibility_of
from federation.documents.reading import same_origin, uris_of, web_uri
from federation.documents.received_notes import is_note, read_sent_note
from federation.inbound.incoming import Incoming
from federation.reasons import Reason, Rejected
from federation.remote.fetching import fetch_document
from federation.remote.permitted import authorize, refuse
from federation.remote.posts import store_note
from federation.remote.references import claimed_id, find_post_by_uri
from social.kernel.errors import Forbidden, Invalid
from social.kernel.events import publish
from statuses.events import InteractionSettled
from statuses.models import Interaction, InteractionRequest, RequestState, Status
from statuses.policies.interactions import rule_of
from statuses.policies.visibility import boost_visibility
from statuses.queries.statuses import list_statuses
from statuses.services.asking import NotPermitted
from statuses.services.interactions import favourite_status, reblog_status
from statuses.services.requests import record_accepted, settle_request

KINDS: Final = {
    "LikeRequest": Interaction.FAVOURITE,
    "ReplyRequest": Interaction.REPLY,
    "AnnounceRequest": Interaction.REBLOG,
}


def handle_request(incoming: Incoming) -> None:
    """Answer a request to interact with a local post, according to the post's policy. If the author has to decide, no answer is
    sent before the decision. The request names or embeds the interaction. A repeated request is answered again.
    """
    uri, post, kind = incoming.needed_uri(), find_post_by_uri(incoming.needed_object_uri()), KINDS[incoming.kind]
    instrument = incoming.document.get("instrument")
    interaction_uri = web_uri(instrument)
    if interaction_uri is None or not same_origin(interaction_uri, incoming.actor.uri):
        raise Rejected(Reason.NO_POST_OF_ACTOR)
    if (
        post is None
        or not post.local
        or post.is_reblog
        or not list_statuses(incoming.actor.id).filter(id=post.id).exists()
    ):
        raise Rejected(Reason.NO_SUCH_NOTE)
    columns: dict[str, Any] = {"account": incoming.actor, "status": post, "kind": kind}
    if kind is Interaction.REPLY:
        columns["uri"] = interaction_uri
    others = InteractionRequest.objects.filter(request_uri=uri).exclude(**columns)
    if others.exists():
        raise Rejected(Reason.TAKEN_ID_OF_REQUEST)
    if kind is Interaction.REPLY:
        _answer(incoming, post, interaction_uri, uri)
        return
    try:
        with claimed_id(interaction_uri, incoming.actor.uri):
            _interact(incoming, post, kind, interaction_uri)
            pending = InteractionRequest.objects.filter(
                account=incoming.actor, status=post, kind=kind, state=RequestState.PENDING
            )
            if not pending.update(request_uri=uri, uri=interaction_uri):
                record_accepted(
                    account_id=incoming.actor.id, post=post, kind=kind, uri=interaction_uri, request_uri=uri
                )
    except NotPermitted:
        refuse(post, incoming.actor, kind, interaction_uri, uri)
    except (Forbidden, Invalid):
        raise Rejected(Reason.NOT_TO_BE_BOOSTED) from None
    except IntegrityError:
        raise Rejected(Reason.TAKEN_ID_OF_REQUEST) from None


def _interact(incoming: Incoming, post: Status, kind: Interaction, uri: str) -> None:
    if kind is Interaction.FAVOURITE:
        favourite_status(account_id=incoming.actor.id, status=post, uri=uri)
        return
    instrument = incoming.document.get("instrument")
    boost = instrument if isinstance(instrument, dict) else {}
    visibility = visibility_of(uris_of(boost.get("to")), uris_of(boost.get("cc")), incoming.actor.followers_url)
    reblog_status(
        account=incoming.actor, status=post, visibility=boost_visibility(post.visibility, visibility), uri=uri
    )


def _answer(incoming: Incoming, post: Status, reply_uri: str, uri: str) -> None:
    """Store the reply that a ReplyRequest is about: as accepted if the policy requires no approval, or else as waiting for
    approval.
    """
    reply = find_post_by_uri(reply_uri)
    if reply is None:
        instrument = incoming.document.get("instrument")
        if not (isinstance(instrument, dict) and is_note(instrument)):
            instrument = fetch_document(reply_uri)
        note = read_sent_note(instrument, incoming.actor.uri)
        if note.uri != reply_uri or note.in_reply_to is None or find_post_by_uri(note.in_reply_to) != post:
            raise Rejected(Reason.ANSWERS_OTHER)
        reply = store_note(note, incoming.actor, recipient=incoming.recipient, request_uri=uri)
        if reply is None:
            return  # Either the reply was refused and its author was notified, or the reply is held for review.
    if reply.account_id != incoming.actor.id or reply.in_reply_to_id != post.id:
        raise Rejected(Reason.ANSWERS_OTHER)
    with transaction.atomic():
        answered = InteractionRequest.objects.select_for_update().filter(answer=reply)
        request = answered.first()
        if request is not None and request.state == RequestState.REJECTED:
            publish(InteractionSettled(request_id=request.id, account_id=request.account_id))
        elif reply.is_deleted:
            raise Rejected(Reason.DELETED_NOTE)
        elif request is None or request.state == RequestState.ACCEPTED:
            authorize(reply, uri)
        else:
            answered.update(request_uri=uri)


def record(incoming: Incoming, post: Status, kind: Interaction, uri: str) -> None:
    """Send an authorization if the post's policy limits this kind of interaction, but this actor needs no approval."""
    if post.local and rule_of(post.interaction_policy, kind) and post.account_id != incoming.actor.id:
        record_accepted(account_id=incoming.actor.id, post=post, kind=kind, uri=uri)


def find_answered(incoming: Incoming) -> InteractionRequest | None:
    """Return the request that the activity answers, or None. Raises Rejected if the actor is not the author of the post."""
    request = InteractionRequest.objects.filter(
        request_uri=incoming.object_uri or "", status__local=False, account__domain=None
    ).first()
    if request is not None and request.target_id != incoming.actor.id:
        raise Rejected(Reason.NOT_AUTHORS_ANSWER)
    return request


def revoke(incoming: Incoming) -> bool:
    """Undo the interactions whose authorization the author of a post has deleted; return False if there are none."""
    approved = InteractionRequest.objects.filter(approval_uri=incoming.object_uri or "", target=incoming.actor)
    request_ids = list(approved.values_list("id", flat=True))
    for request_id in request_ids:
        settle_request(request_id=request_id, accepted=False)
    return bool(request_ids)
