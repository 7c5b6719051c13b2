"""Handles requests to quote posts, answers to them, and revocations (FEP-044f; security row 36)."""

from django.db import transaction
from django.db.models import Q

from federation.documents.reading import same_origin, web_uri
from federation.documents.received_notes import is_note, read_sent_note
from federation.events import QuoteAnswerDue
from federation.inbound.forwarding import forward
from federation.inbound.incoming import Incoming
from federation.reasons import Reason, Rejected
from federation.remote.posts import find_or_fetch_post, may_quote, store_note
from federation.remote.references import find_post_by_uri
from social.kernel.events import publish
from social.kernel.locks import lock
from statuses.models import Quote, QuoteState, Status
from statuses.policies.audience import is_for_everybody
from statuses.services.quotes import find_quoted, settle_quote, store_request


def handle_request(incoming: Incoming) -> None:
    """Answer a request to quote a local post, according to the post's quote policy; the request names or embeds the quoting
    post.

    A forbidden request and its pending quote are rejected, and so is a request for a revoked quote. A request for an accepted
    quote is accepted again, even if the policy has changed.
    """
    uri, quoted = incoming.needed_uri(), find_post_by_uri(incoming.needed_object_uri())
    if quoted is None or not quoted.local or quoted.is_reblog or quoted.deleted_at is not None:
        raise Rejected(Reason.NO_SUCH_NOTE)
    if not is_for_everybody(quoted):
        # Even a Reject would reveal that the post exists.
        raise Rejected(Reason.NOT_FOR_EVERYBODY)
    quoting_uri = web_uri(incoming.document.get("instrument"))
    if quoting_uri is None or not same_origin(quoting_uri, incoming.actor.uri):
        raise Rejected(Reason.NO_POST_OF_ACTOR)
    quotes = Quote.objects.filter(status__uri=quoting_uri, status__account=incoming.actor)
    allowed = (
        may_quote(quoted, incoming.actor) or quotes.filter(quoted_status=quoted, state=QuoteState.ACCEPTED).exists()
    )
    quote = _find_quote(incoming, quoting_uri, quoted) if allowed else None
    with transaction.atomic():
        if quote is not None:
            lock(f"object:{uri}")
            if Quote.objects.filter(request_uri=uri).exclude(status__account=incoming.actor).exists():
                raise Rejected(Reason.TAKEN_ID_OF_REQUEST)
            store_request(quote_id=quote.id, request_uri=uri)
            settle_quote(quote_id=quote.id, accepted=True)
        else:
            pending = quotes.filter(state=QuoteState.PENDING)
            for refused in pending.filter(Q(quoted_status=quoted) | Q(quoted_uri=incoming.object_uri)):
                settle_quote(quote_id=refused.id, accepted=False)
        publish(
            QuoteAnswerDue(
                account_id=quoted.account_id,
                actor_id=incoming.actor.id,
                quote_id=0 if quote is None else quote.id,
                uri=uri,
                quoted_uri=str(incoming.object_uri),
                quoting_uri=quoting_uri,
            )
        )


def _find_quote(incoming: Incoming, quoting_uri: str, quoted: Status) -> Quote:
    """Return the quote in the quoting post; an unknown quoting post is stored first. Raises Rejected if the quoting post is not
    by the actor, or quotes another post.
    """
    instrument = incoming.document.get("instrument")
    if find_post_by_uri(quoting_uri) is None:
        if isinstance(instrument, dict) and is_note(instrument):
            store_note(read_sent_note(instrument, incoming.actor.uri), incoming.actor)
        else:
            find_or_fetch_post(quoting_uri)
    quote = Quote.objects.select_related("status").filter(status__uri=quoting_uri, status__deleted_at=None).first()
    if quote is None or quote.status.account_id != incoming.actor.id:
        raise Rejected(Reason.NO_QUOTING_POST)
    if quote.quoted_status_id is None and quote.quoted_uri is not None and find_post_by_uri(quote.quoted_uri) == quoted:
        find_quoted(quote_id=quote.id, quoted=quoted)
    elif quote.quoted_status_id != quoted.id:
        raise Rejected(Reason.QUOTES_OTHER)
    return quote


def find_answered(incoming: Incoming) -> Quote | None:
    """Return the quote whose QuoteRequest the activity answers, or None. Raises Rejected unless the actor was quoted."""
    quotes = Quote.objects.select_related("quoted_status").filter(status__local=True)
    quote = quotes.filter(request_uri=incoming.object_uri or "").first()
    if quote is None:
        return None
    if quote.quoted_status is None or quote.quoted_status.account_id != incoming.actor.id:
        raise Rejected(Reason.ANSWER_OF_OTHER_AUTHOR)
    return quote


def revoke(incoming: Incoming) -> bool:
    """End the quotes whose authorization the quoted author deletes; return False if there are no such quotes."""
    quotes = authorized_by(incoming.object_uri, incoming.actor.uri)
    for quote in quotes:
        with transaction.atomic():
            settle_quote(quote_id=quote.id, accepted=False)
            # The Delete is not forwarded for a quote in a local post, because an Update of that post is sent instead.
            if not quote.status.local:
                forward(incoming, quote.status)
    return bool(quotes)


def authorized_by(uri: str | None, author_uri: str) -> list[Quote]:
    """Return the quotes of this author's posts whose authorization has the id `uri`."""
    quotes = Quote.objects.select_related("status__account", "quoted_status")
    return list(quotes.filter(approval_uri=uri or "", quoted_status__account__uri=author_uri))
