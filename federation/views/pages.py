"""Pages of people and posts: what somebody sees who follows a link from elsewhere; to servers they are the documents."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.safestring import mark_safe

from accounts.models import Account
from accounts.pages.person import person
from federation.documents.discovery import WEBFINGER_PATH
from federation.documents.loading import uri_of
from federation.views.actors import actor_response
from federation.views.messages import reads
from federation.views.negotiation import Wanted, not_acceptable, wanted
from federation.views.posts import post_response
from federation.views.reading import find_account
from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from social.kernel.text.plain import plain
from social.pages.frame import show
from social.pages.views import page
from statuses.pages.posts import shown
from statuses.queries.statuses import list_statuses

POSTS = 20
_VARY = "Origin, Accept, Cookie"


def profile(request: HttpRequest, username: str) -> HttpResponseBase:
    """`/@:username`: the page, or the document for who asks for it."""
    form = wanted(request)
    if form is None:
        return not_acceptable()
    return _actor(request, username=username) if form is Wanted.DOCUMENT else _profile(request, username=username)


def post(request: HttpRequest, username: str, id: str) -> HttpResponseBase:
    """`/@:username/:id`: the page, or the document for who asks for it."""
    form = wanted(request)
    if form is None:
        return not_acceptable()
    return _note(request, username=username, id=id) if form is Wanted.DOCUMENT else _post(request, username, id)


@reads
def _actor(request: HttpRequest, username: str) -> HttpResponse:
    return actor_response(find_account(username, served_while_suspended=True))


@reads
def _note(request: HttpRequest, username: str, id: str) -> HttpResponse:
    return post_response(request, username, id)


@page
def _profile(request: HttpRequest, username: str) -> HttpResponseBase:
    account = find_account(username)
    statuses = list_statuses(None).filter(account=account, reblog_of=None, in_reply_to=None).order_by("-id")[:POSTS]
    # Fields and bio were written by our own formatter when they were saved, or sanitised when they were received.
    fields = [{"name": item["name"], "html": mark_safe(item["html"])} for item in account.fields]  # noqa: S308
    context: dict[str, Any] = {
        **person(account),
        "note": mark_safe(account.note_html),  # noqa: S308
        "fields": fields,
        "posts": [shown(status) for status in statuses.select_related("account").prefetch_related("media")],
    }
    response = show(request, "federation/profile.html", context)
    return _announced(response, account, account.uri)


@page
def _post(request: HttpRequest, username: str, status_id: str) -> HttpResponseBase:
    account, number = find_account(username), parse_id(status_id)
    if number is None:
        raise NotFound
    found = list_statuses(None).select_related("account", "reblog_of__account").filter(id=number, account=account)
    status = found.first()
    if status is None:
        raise NotFound
    original = status.reblog_of or status
    if not original.local:
        raise NotFound
    context = {
        **person(original.account),
        "title": (original.spoiler_text or plain(original.content))[:100],
        "post": shown(original),
    }
    return _announced(show(request, "federation/post.html", context), original.account, uri_of(original))


def _announced(response: HttpResponse, account: Account, uri: str) -> HttpResponse:
    """Tells machines where the document is (contract, federation section 1)."""
    resource = quote(f"acct:{account.username}@{settings.LOCAL_DOMAIN}", safe="")
    response.headers["Link"] = (
        f'<{links.web_url(WEBFINGER_PATH)}?resource={resource}>; rel="lrdd"; type="application/jrd+json", '
        f'<{uri}>; rel="alternate"; type="application/activity+json"'
    )
    response.headers["Vary"] = _VARY
    return response
