"""Pages of people and posts: what somebody sees who follows a link from elsewhere; to servers they are the documents."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, ActorType
from accounts.pages.person import person, shown_person
from accounts.queries.tags import named_tag
from accounts.serializers.account import counters
from federation.documents.context import with_context
from federation.documents.discovery import WEBFINGER_PATH
from federation.views.actors import actor_response
from federation.views.negotiation import Wanted, alternate, document, not_acceptable, reads, wanted
from federation.views.posts import post_response
from federation.views.reading import find_local_account, require_signature
from social.kernel import links
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.text.markup import plain
from social.kernel.text.names import visible_text
from social.pages.frame import Sharing, absolute, show
from social.pages.text import shown_html
from social.pages.views import page
from statuses.pages.feed import show_feed
from statuses.pages.posts import load_shown, newest_shown, sharing_of, shown
from statuses.queries.listings import AccountStatusesFilter
from statuses.queries.statuses import find_post
from statuses.queries.threads import load_context
from timelines.pages.public import tag as tag_page

POSTS_PER_PAGE = 20
_KINDS = {ActorType.SERVICE: _("Bot"), ActorType.APPLICATION: _("Bot"), ActorType.GROUP: _("Group")}
#: No boosts, and no answers to others.
_SHOWN = AccountStatusesFilter(exclude_replies=True, exclude_reblogs=True)
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


def tag(request: HttpRequest, name: str) -> HttpResponseBase:
    """`/tags/:name`: the page, or the document for who asks for it."""
    form = wanted(request)
    if form is None:
        return not_acceptable()
    if form is Wanted.DOCUMENT:
        return _hashtag(request, name=name)
    response = page(tag_page)(request, name=name)
    response.headers["Vary"] = _VARY
    return response


@reads
def _hashtag(request: HttpRequest, name: str) -> HttpResponse:
    """A hashtag has no more than an id and a type (contract, federation section 2)."""
    require_signature(request)
    uri = links.tag_url(named_tag(name).name)
    return document(with_context({"id": uri, "type": "OrderedCollection"}))


@reads
def _actor(request: HttpRequest, username: str) -> HttpResponse:
    return actor_response(request, find_local_account(username, served_while_suspended=True))


@reads
def _note(request: HttpRequest, username: str, id: str) -> HttpResponse:
    return post_response(request, username, id)


@page
def _profile(request: HttpRequest, username: str) -> HttpResponseBase:
    account = find_local_account(username)
    before = parse_id(request.GET.get("max_id", ""))
    posts = newest_shown(account.id, _SHOWN, max_id=before, limit=POSTS_PER_PAGE + 1)
    # Fields and biography were written by our own formatter when they were saved.
    fields = [
        {"name": visible_text(item["name"]), "html": shown_html(item["html"]), "verified": bool(item["verified_at"])}
        for item in account.fields
    ]
    context: dict[str, Any] = {
        **person(account),
        "sharing": _sharing(account),
        "header": f"{settings.MEDIA_URL}{account.header}" if account.header else "",
        "kind": _KINDS.get(ActorType(account.actor_type)),
        "moved_to": shown_person(account.moved_to) if account.moved_to is not None else None,
        "note": shown_html(account.note_html),
        "fields": fields,
        "counts": counters(account),
        "posts": posts[:POSTS_PER_PAGE],
        "older": f"?max_id={posts[POSTS_PER_PAGE - 1]['id']}" if len(posts) > POSTS_PER_PAGE else "",
        "newest": request.path if before is not None else "",
    }
    response = show(request, "federation/profile.html", context)
    return _with_alternate(response, account, account.uri)


@page
def feed(request: HttpRequest, username: str) -> HttpResponseBase:
    """`/@:username.rss`: the first page of somebody's posts as a feed (contract, federation section 1)."""
    account = find_local_account(username)
    sharing = _sharing(account)
    return show_feed(
        title=sharing.title,
        url=sharing.url,
        description=sharing.description,
        posts=newest_shown(account.id, _SHOWN, limit=POSTS_PER_PAGE),
        image=sharing.image,
    )


def no_feed(request: HttpRequest, username: str) -> HttpResponse:
    """`/@:username/:id.rss`: 406, a single post is no feed (contract, federation section 1)."""
    return not_acceptable()


def _sharing(account: Account) -> Sharing:
    who = shown_person(account)
    return Sharing(
        kind="profile",
        url=links.profile_url(account.username),
        title=f"{who.name} ({who.address})",
        description=" ".join(visible_text(plain(account.note_html)).split()),
        image=absolute(who.avatar),
        image_description=account.avatar_description,
        username=f"{account.username}@{settings.LOCAL_DOMAIN}",
    )


@page
def _post(request: HttpRequest, username: str, status_id: str) -> HttpResponseBase:
    account, number = find_local_account(username), parse_id(status_id)
    if number is None:
        raise NotFound
    post = find_post(number, None)
    row = post.proper
    if post.account_id != account.id or not row.local:
        raise NotFound
    thread = load_context(row, None)
    posts = {int(each["id"]): each for each in [*shown(thread.page), *load_shown([row.id])]}
    current = require_found(posts.get(row.id))
    author = account if row.account_id == account.id else find_local_account(row.username)
    context = {
        **person(author),
        "title": (current["warning"] or plain(current["content"]))[:100],
        "post": current,
        "sharing": sharing_of(current),
        "ancestors": [posts[each.id] for each in thread.ancestors if each.id in posts],
        "answers_hidden": row.is_reply and row.in_reply_to_id not in posts,
        "replies": [posts[each.id] for each in thread.descendants if each.id in posts],
    }
    return _with_alternate(show(request, "federation/post.html", context), author, row.object_uri)


def _with_alternate(response: HttpResponse, account: Account, uri: str) -> HttpResponse:
    """Add the address of WebFinger and the document (contract, federation section 1)."""
    resource = quote(f"acct:{account.username}@{settings.LOCAL_DOMAIN}", safe="")
    response.headers["Link"] = (
        f'<{links.web_url(WEBFINGER_PATH)}?resource={resource}>; rel="lrdd"; type="application/jrd+json", '
        + alternate(uri)
    )
    response.headers["Vary"] = _VARY
    return response
