"""Documents of posts, and their collections (contract, federation sections 2, 5 and 8)."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from federation.documents import activities, collections, requests
from federation.documents.context import with_context
from federation.documents.notes import context_uri, load_notes, note_document, note_terms
from federation.views import negotiation
from federation.views.reading import find_deleted, find_local_account, find_shown_post, reader_id_of
from social.kernel import links
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from statuses.models import Interaction, InteractionRequest, Quote, QuoteState, RequestState, Status
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.posts import load_posts
from statuses.queries.statuses import find_post, list_conversation, list_statuses

REPLIES_PER_PAGE = 60
CONVERSATION_PER_PAGE = 60


@negotiation.reads
def post(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id`: the document, or a redirect to the page."""
    form = negotiation.preferred_representation(request)
    if form is None:
        return negotiation.not_acceptable()
    if form is negotiation.Representation.PAGE:
        return negotiation.redirect(links.status_url(username, int(parse_id(id) or 0)))
    return post_response(request, username, id)


def post_response(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """Return the document of a post or, with status 410, the Tombstone of a deleted post."""
    try:
        post, reader_id = find_shown_post(request, username, id)
    except NotFound:
        deleted = find_deleted(username, id)
        if deleted is None:
            raise
        return negotiation.document(with_context(activities.tombstone(deleted), ["atomUri"]), status=410)
    if post.original is not None:
        return negotiation.document(activities.of_posts([post])[post.id], reader_id=reader_id)
    response = negotiation.document(note_document(load_notes([post])[post.id]), reader_id=reader_id)
    response.headers["Link"] = negotiation.alternate(post.object_uri)
    return response


@negotiation.reads
def activity(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/activity`: the Create or Announce."""
    post, reader_id = find_shown_post(request, username, id)
    return negotiation.document(activities.of_posts([post])[post.id], reader_id=reader_id)


@negotiation.reads
def likes(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/likes`: the number of favourites."""
    post, reader_id = find_shown_post(request, username, id)
    return _count(f"{post.object_uri}/likes", post.favourites_count, reader_id)


@negotiation.reads
def shares(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/shares`: the number of boosts."""
    post, reader_id = find_shown_post(request, username, id)
    return _count(f"{post.object_uri}/shares", post.reblogs_count, reader_id)


@negotiation.reads
def quote_authorization(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/quote_authorizations/:id`: the consent to a quote, for signers who may read both posts."""
    number = require_found(parse_id(id))
    author, reader_id = find_local_account(username), reader_id_of(request)
    quotes = Quote.objects.filter(id=number, state=QuoteState.ACCEPTED, quoted_status__account=author)
    quote = require_found(quotes.first())
    quoting, quoted = find_post(quote.status_id, reader_id), find_post(quote.quoted_status_id, reader_id)
    consent = activities.quote_authorization(author, quote.id, quoting.object_uri, quoted.object_uri)
    return negotiation.document(with_context(consent, activities.authorization_terms(consent)), reader_id=reader_id)


_KINDS: Final = {"like": Interaction.FAVOURITE, "reply": Interaction.REPLY, "announce": Interaction.REBLOG}


@negotiation.reads
def authorization(request: HttpRequest, username: str, kind: str, id: str) -> HttpResponse:
    """`/users/:username/reply_authorizations/:id`, and likewise for likes and announces: the consent of a local account to an
    interaction with its post, for signers who may read the post and the reply.
    """
    author, reader_id = find_local_account(username), reader_id_of(request)
    accepted = InteractionRequest.objects.filter(
        id=require_found(parse_id(id)), kind=_KINDS[kind], state=RequestState.ACCEPTED, target=author
    )
    request_row = require_found(accepted.first())
    target = find_post(request_row.status_id, reader_id)
    answer = None if request_row.answer_id is None else find_post(request_row.answer_id, reader_id)
    uri = request_row.uri if answer is None else answer.object_uri
    if answer is not None and answer.local and answer.original is not None:
        uri = activities.announce(answer, context=False)["id"]
    consent = requests.authorization(author.uri, _KINDS[kind], request_row.id, require_found(uri), target.object_uri)
    return negotiation.document(with_context(consent, activities.authorization_terms(consent)), reader_id=reader_id)


def _count(uri: str, total: int, reader_id: int | None) -> HttpResponse:
    return negotiation.document(collections.collection(uri, total, ordered=False), reader_id=reader_id)


@negotiation.reads
def replies(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/replies`: public and unlisted replies, the replies of the post's author first."""
    parent, reader_id = find_shown_post(request, username, id)
    uri = f"{parent.object_uri}/replies"
    others = request.GET.get("only_other_accounts") == "true"
    answers = list_statuses(reader_id).filter(in_reply_to_id=parent.id, visibility__in=OPEN_VISIBILITIES).order_by("id")
    answers = answers.exclude(account_id=parent.account_id) if others else answers.filter(account_id=parent.account_id)
    after = parse_id(request.GET.get("min_id")) or 0
    page = load_posts(answers.filter(id__gt=after).values_list("id", flat=True)[:REPLIES_PER_PAGE])
    suffix = "&only_other_accounts=true" if others else ""
    name = f"{uri}?page=true{suffix}" + (f"&min_id={after}" if after else "")
    following = f"{uri}?page=true{suffix}&min_id={page[-1].id}" if len(page) == REPLIES_PER_PAGE else None
    if following is None and not others:
        following = f"{uri}?page=true&only_other_accounts=true"
    notes = load_notes(answer for answer in page if answer.local)
    terms = dict.fromkeys(term for item in notes.values() for term in note_terms(item))
    items = [notes.get(answer.id, answer.uri) for answer in page]
    document_page = collections.page(name, uri, items, next_uri=following, ordered=False, terms=list(terms))
    if request.GET.get("page") == "true":
        return negotiation.document(document_page, reader_id=reader_id)
    inner = {key: value for key, value in document_page.items() if key != "@context"}
    collection = with_context({"id": uri, "type": "Collection", "first": inner}, list(terms))
    return negotiation.document(collection, reader_id=reader_id)


@negotiation.reads
def context(request: HttpRequest, account_id: str, status_id: str) -> HttpResponse:
    """`/contexts/:account_id-:status_id`: the public and unlisted posts of a conversation that the signer may read. 404 if the
    signer may not read the post that the address names, as if it did not exist (security row 76).
    """
    reader_id = reader_id_of(request)
    start = Status.objects.filter(id=find_post(status_id, reader_id).id, account_id=parse_id(account_id) or 0)
    post = require_found(start.select_related("account").first())
    uri = context_uri(post.account_id, post.id)
    after = parse_id(request.GET.get("min_id")) or 0
    ids = list_conversation(post.thread_root_id, reader_id, after, CONVERSATION_PER_PAGE)
    if not ids and not after:
        raise NotFound
    following = f"{uri}?page=true&min_id={ids[-1]}" if len(ids) == CONVERSATION_PER_PAGE else None
    name = f"{uri}?page=true" + (f"&min_id={after}" if after else "")
    items = [item.object_uri for item in load_posts(ids)]
    page = collections.page(name, uri, items, next_uri=following, ordered=False)
    if request.GET.get("page") != "true":
        first = {key: value for key, value in page.items() if key not in ("@context", "id")}
        page = with_context({"id": uri, "type": "Collection", "attributedTo": post.account.uri, "first": first})
    return negotiation.document(page, reader_id=reader_id)
