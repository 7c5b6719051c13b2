"""Requests interactions from the authors of remote posts, and answers requests about local posts (docs/adr/0044)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.db.models import QuerySet

from federation.documents import activities, requests
from federation.documents.context import with_context
from federation.documents.notes import authorization_uri, load_notes, note_terms
from federation.events import InteractionRefused
from federation.outbound.audience import inbox_of, load_pairs, reached_inboxes
from federation.outbound.queueing import enqueue
from statuses.events import InteractionRequested, InteractionSettled
from statuses.models import Interaction, InteractionRequest, RequestState
from statuses.policies.posts import Post
from statuses.queries.posts import load_posts


def _requests(ids: Iterable[int], **conditions: object) -> QuerySet[InteractionRequest]:
    rows = InteractionRequest.objects.select_related("account", "target").filter(id__one_of=list(ids), **conditions)
    return rows.filter(status__deleted_at=None).order_by("id")


def _posts(rows: Iterable[InteractionRequest]) -> dict[int, Post]:
    numbers = [number for each in rows for number in (each.status_id, each.answer_id) if number is not None]
    return {post.id: post for post in load_posts(numbers)}


def send_requests(events: Sequence[InteractionRequested]) -> None:
    """Send each request of a local account to the author of the remote post."""
    pending = _requests(
        (event.request_id for event in events),
        state=RequestState.PENDING,
        request_uri__isnull=False,
        account__domain=None,
        target__domain__isnull=False,
    )
    pending_requests = list(pending)
    posts = _posts(pending_requests)
    # The reply is sent in the form that it will have after approval.
    visibilities = {each.answer_id: each.visibility for each in pending_requests}
    replies = [replace(post, visibility=visibilities[post.id]) for post in posts.values() if visibilities.get(post.id)]
    notes = load_notes(replies)
    for each in pending_requests:
        post, kind = posts[each.status_id], Interaction(each.kind)
        if post.local_only or (kind is Interaction.REPLY and each.answer_id not in notes):
            continue
        instrument = notes[each.answer_id or 0] if kind is Interaction.REPLY else _instrument(each, kind, post)
        request = requests.request(kind, str(each.request_uri), post.object_uri, post.author.uri, instrument)
        terms = [request["type"], *(note_terms(instrument) if kind is Interaction.REPLY else ())]
        enqueue(each.account, with_context(request, terms), inbox_of(each.target), key=f"request:{each.id}")


def _instrument(request: InteractionRequest, kind: Interaction, post: Post) -> dict[str, Any]:
    """Return the Like or Announce that is requested. After approval, a new activity with another id is sent."""
    name = "Like" if kind is Interaction.FAVOURITE else "Announce"
    return {
        "id": f"{request.account.uri}#requests/{request.id}",
        "type": name,
        "actor": request.account.uri,
        "object": post.object_uri,
        "to": post.author.uri,
    }


def send_answers(events: Sequence[InteractionSettled]) -> None:
    """Send the decision about each interaction of a remote account with a local post. If an acceptance was withdrawn, also send
    a Delete of the authorization to every server where the post may have arrived.
    """
    settled = _requests(
        (event.request_id for event in events), account__domain__isnull=False, target__domain=None, uri__isnull=False
    )
    revoked_ids = {event.request_id for event in events if event.revoked}
    settled_requests = list(settled)
    posts = _posts(settled_requests)
    for each in settled_requests:
        kind, post = Interaction(each.kind), posts[each.status_id]
        accepted = each.state == RequestState.ACCEPTED
        document = requests.answer(
            each.target,
            kind,
            actor_uri=each.account.uri,
            post_uri=post.object_uri,
            interaction_uri=str(each.uri),
            request_uri=each.request_uri,
            authorization=authorization_uri(each.target.uri, kind, each.id) if accepted else None,
            number=each.id,
        )
        enqueue(each.target, document, inbox_of(each.account), key=f"request:{each.id}")
        if each.id in revoked_ids and not accepted:
            consent = requests.authorization(each.target.uri, kind, each.id, str(each.uri), post.object_uri)
            document = activities.delete_authorization(each.target, consent)
            inboxes = reached_inboxes(post) | inbox_of(each.account)
            enqueue(each.target, document, inboxes, key=f"request:{each.id}")


def send_refusals(events: Sequence[InteractionRefused]) -> None:
    """Send a Reject of each interaction that the policy of a local post does not allow."""
    posts = {post.id: post for post in load_posts(event.status_id for event in events)}
    for event, author, actor in load_pairs(events, "account_id", "actor_id"):
        post = posts.get(event.status_id)
        if post is None:
            continue
        document = requests.answer(
            author,
            Interaction(event.kind),
            actor_uri=actor.uri,
            post_uri=post.object_uri,
            interaction_uri=event.uri,
            request_uri=event.request_uri,
            authorization=None,
            number=uuid4().hex,
        )
        enqueue(author, document, inbox_of(actor), key=f"pair:{actor.id}:{author.id}")
