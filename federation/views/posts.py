"""Documents of posts, and their collections (contract, federation sections 2, 5 and 8)."""

from __future__ import annotations

from django.db.models import F
from django.http import HttpRequest, HttpResponse

from federation.documents import activities, collections
from federation.documents.context import with_context
from federation.documents.loading import load_post, uri_of
from federation.documents.notes import note, note_document, note_terms
from federation.views.messages import reads
from federation.views.negotiation import Wanted, alternate, document, not_acceptable, redirect, wanted
from federation.views.reading import ShownPost, find_deleted, find_shown_post
from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import Status, StatusStat
from statuses.queries.statuses import list_statuses

REPLIES = 60


@reads
def post(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id`: the document, or the way to the page."""
    form = wanted(request)
    if form is None:
        return not_acceptable()
    if form is Wanted.PAGE:
        return redirect(links.status_url(username, int(parse_id(id) or 0)))
    return post_response(request, username, id)


def post_response(request: HttpRequest, username: str, status_id: str) -> HttpResponse:
    """The document of a post; a deleted one has a tombstone, and 410."""
    try:
        found = find_shown_post(request, username, status_id)
    except NotFound:
        deleted = find_deleted(username, status_id)
        if deleted is None:
            raise
        return document(with_context(activities.tombstone(deleted), ["atomUri"]), status=410)
    if found.status.reblog_of is not None:
        return document(activities.announce(found.status), private=found.private)
    response = document(note_document(load_post(found.status)), private=found.private)
    response.headers["Link"] = alternate(uri_of(found.status))
    return response


@reads
def activity(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/activity`: the Create or Announce."""
    found = find_shown_post(request, username, id)
    if found.status.reblog_of is not None:
        return document(activities.announce(found.status), private=found.private)
    return document(activities.create(load_post(found.status)), private=found.private)


@reads
def likes(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/likes`: how many."""
    found = find_shown_post(request, username, id)
    return _count(found, "likes", _stat(found.status).favourites_count)


@reads
def shares(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/shares`: how many."""
    found = find_shown_post(request, username, id)
    return _count(found, "shares", _stat(found.status).reblogs_count)


def _stat(status: Status) -> StatusStat:
    return StatusStat.objects.filter(status=status).first() or StatusStat(status=status)


def _count(found: ShownPost, name: str, total: int) -> HttpResponse:
    uri = f"{uri_of(found.status)}/{name}"
    return document(collections.collection(uri, total, ordered=False), private=found.private)


@reads
def replies(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/users/:username/statuses/:id/replies`: the author's own first, then other people's; public ones only."""
    found = find_shown_post(request, username, id)
    status, uri = found.status, f"{uri_of(found.status)}/replies"
    others = request.GET.get("only_other_accounts") == "true"
    answers = list_statuses(None).select_related("account").filter(in_reply_to=status).order_by("id")
    if others:
        answers = answers.exclude(account=F("in_reply_to__account"))
    else:
        answers = answers.filter(account=F("in_reply_to__account"))
    after = parse_id(request.GET.get("min_id")) or 0
    page = list(answers.filter(id__gt=after)[:REPLIES])
    suffix = "&only_other_accounts=true" if others else ""
    name = f"{uri}?page=true{suffix}" + (f"&min_id={after}" if after else "")
    following = f"{uri}?page=true{suffix}&min_id={page[-1].id}" if len(page) == REPLIES else None
    if following is None and not others:
        following = f"{uri}?page=true&only_other_accounts=true"
    terms: dict[str, None] = {}
    items: list[object] = []
    for answer in page:
        if answer.local:
            item = note(load_post(answer))
            terms |= dict.fromkeys(note_terms(item))
            items.append(item)
        else:
            items.append(answer.uri)
    document_page = collections.page(name, uri, items, next_uri=following, ordered=False, terms=list(terms))
    if request.GET.get("page") == "true":
        return document(document_page, private=found.private)
    inner = {key: value for key, value in document_page.items() if key != "@context"}
    return document(with_context({"id": uri, "type": "Collection", "first": inner}, list(terms)), private=found.private)
