"""Requests consent to quotes, answers requests from other servers, and revokes consent (FEP-044f)."""

from collections.abc import Iterable, Sequence

from django.db.models import QuerySet

from federation.documents import activities
from federation.documents.notes import load_notes, quote_authorization_uri
from federation.events import QuoteAnswerDue
from federation.outbound.audience import inbox_of, load_pairs, reached_inboxes, servers_inboxes
from federation.outbound.queueing import enqueue
from statuses.events import QuoteSettled
from statuses.models import Quote, QuoteState
from statuses.policies.audience import is_for_everybody
from statuses.queries.posts import load_posts


def _quotes(**conditions: object) -> QuerySet[Quote]:
    quotes = Quote.objects.select_related("status__account", "quoted_status__account")
    return quotes.filter(status__deleted_at=None, quoted_status__deleted_at=None, **conditions).order_by("id")


def send_quote_requests(status_ids: Iterable[int]) -> None:
    """Send a QuoteRequest for the quote in each of these local posts to the server of the quoted author."""
    pending = _quotes(
        status_id__one_of=list(status_ids),
        status__local=True,
        status__local_only=False,
        state=QuoteState.PENDING,
        request_uri__isnull=False,
        quoted_status__local=False,
    )
    quotes = list(pending)
    notes = load_notes(load_posts(quote.status_id for quote in quotes))
    for quote in quotes:
        quoted = quote.quoted_status
        if quoted is not None and quote.request_uri is not None and quote.status_id in notes:
            document = activities.quote_request(notes[quote.status_id], quote.request_uri, quoted.uri or "")
            enqueue(quote.status.account, document, inbox_of(quoted.account), key=f"status:{quote.status_id}")


def send_quote_answers(events: Sequence[QuoteAnswerDue]) -> None:
    """Send an Accept of each QuoteRequest whose quote is accepted now, and a Reject of each other QuoteRequest."""
    accepted = {quote.id for quote in _quotes(id__one_of=[e.quote_id for e in events], state=QuoteState.ACCEPTED)}
    for event, account, actor in load_pairs(events, "account_id", "actor_id"):
        uri = quote_authorization_uri(account.uri, event.quote_id) if event.quote_id in accepted else None
        request = {"id": event.uri, "actor": actor.uri, "object": event.quoted_uri, "instrument": event.quoting_uri}
        document = activities.answer_quote(account, request, number=event.quote_id, authorization_uri=uri)
        enqueue(account, document, inbox_of(actor), key=f"quote:{event.quote_id}")


def send_revoked(events: Sequence[QuoteSettled]) -> None:
    """Send a Delete of the authorization of each quote that the author of a local post has revoked, to every server where the
    quoting post may have arrived. If everybody may read the quoting post, also send the Delete, which names that post, to the
    servers where the quoted post may have arrived.
    """
    revoked = _quotes(
        id__one_of=[event.quote_id for event in events], state=QuoteState.REVOKED, quoted_status__local=True
    )
    quotes = list(revoked)
    posts = {
        post.id: post
        for post in load_posts(number for q in quotes for number in (q.status_id, q.quoted_status_id or 0))
    }
    for quote in quotes:
        quoting, quoted = posts[quote.status_id], posts[quote.quoted_status_id or 0]
        author = quote.quoted_status.account if quote.quoted_status is not None else None
        if author is None:
            continue
        authorization = activities.quote_authorization(author, quote.id, quoting.object_uri, quoted.object_uri)
        inboxes = reached_inboxes(quoting) | servers_inboxes(quoting.account_id)
        if is_for_everybody(quoting):
            inboxes |= reached_inboxes(quoted)
        enqueue(author, activities.delete_authorization(author, authorization), inboxes, key=f"quote:{quote.id}")
