"""Resolves the quotes of remote posts: fetches the quoted post, and the consent of its author (FEP-044f).

An authorization is valid only when fetched from the server of the quoted author (security row 36). Servers show the
authorization and the quoted post only to readers of the quoting post. For a private quoting post, the request is therefore
signed by a local account that may read the post.
"""

from federation.documents.reading import kinds_of, same_origin, uri_of
from federation.reasons import Reason, Rejected
from federation.remote.fetching import fetch_document, is_gone
from federation.remote.posts import find_or_fetch_post
from federation.remote.signing import reader_signer
from statuses.models import Quote, QuoteState, Status
from statuses.queries.statuses import list_statuses
from statuses.services.quotes import end_quote, find_quoted, settle_quote


def resolve_quote(quoting_uri: str, *, remaining: int) -> None:
    """Fetch the post that the post `quoting_uri` quotes, and accept the quote if the quoted author consents or is the quoting
    author. If the server of the quoted post answers that the post was deleted, the quote is marked as deleted.

    `remaining` is the maximum number of parent posts that are fetched for the quoted post. Raises Rejected if the quoting
    author may not read the quoted post or its author does not consent; Missing or Unavailable if a document cannot be fetched.
    """
    quotes = Quote.objects.select_related("status__account", "quoted_status__account").filter(quoted_uri__isnull=False)
    quote = quotes.filter(status__uri=quoting_uri, status__deleted_at=None, state=QuoteState.PENDING).first()
    if quote is None:
        return
    try:
        quoted = quote.quoted_status or _fetch_quoted(quote, remaining)
    except Rejected:
        if is_gone(str(quote.quoted_uri), signer=reader_signer(quote.status)):
            end_quote(quote_id=quote.id)
            return
        raise
    if quoted.account_id == quote.status.account_id:
        settle_quote(quote_id=quote.id, accepted=True)
    elif quote.approval_uri is not None:
        _check_authorization(quote.approval_uri, quote.status, quoted)
        settle_quote(quote_id=quote.id, accepted=True)


def _fetch_quoted(quote: Quote, remaining: int) -> Status:
    signer = reader_signer(quote.status)
    post = find_or_fetch_post(str(quote.quoted_uri), publish_event=False, ancestors=remaining, signer=signer)
    quoted = post.reblog_of or post
    if not list_statuses(quote.status.account_id).filter(id=quoted.id).exists():
        raise Rejected(Reason.QUOTER_CANNOT_READ)
    find_quoted(quote_id=quote.id, quoted=quoted)
    return quoted


def _check_authorization(uri: str, quoting: Status, quoted: Status) -> None:
    author_uri = quoted.account.uri
    if not same_origin(uri, author_uri):
        raise Rejected(Reason.QUOTE_AUTHORIZATION_ELSEWHERE)
    document = fetch_document(uri, signer=reader_signer(quoting))
    named_ids = [
        uri_of(document.get(name)) for name in ("id", "attributedTo", "interactingObject", "interactionTarget")
    ]
    if "QuoteAuthorization" not in kinds_of(document) or named_ids != [uri, author_uri, quoting.uri, quoted.uri]:
        raise Rejected(Reason.QUOTE_AUTHORIZATION_FOR_OTHER)
