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
from federation.documents.discovery import WEBFINGER_PATH
from federation.documents.loading import uri_of
from federation.views.actors import actor_response
from federation.views.messages import reads
from federation.views.negotiation import Wanted, alternate, not_acceptable, wanted
from federation.views.posts import post_response
from federation.views.reading import find_local_account
from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from social.kernel.text.names import visible_text
from social.kernel.text.plain import plain
from social.pages.frame import show
from social.pages.sharing import Sharing, absolute
from social.pages.text import shown_html
from social.pages.views import page
from statuses.pages.feed import show_feed
from statuses.pages.posts import load_shown, newest_shown
from statuses.queries.statuses import find_post, list_statuses
from statuses.queries.threads import load_context

POSTS = 20
_KINDS = {ActorType.SERVICE: _("Bot"), ActorType.APPLICATION: _("Bot"), ActorType.GROUP: _("Group")}
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
    return actor_response(find_local_account(username, served_while_suspended=True))


@reads
def _note(request: HttpRequest, username: str, id: str) -> HttpResponse:
    return post_response(request, username, id)


@page
def _profile(request: HttpRequest, username: str) -> HttpResponseBase:
    account = find_local_account(username)
    before = parse_id(request.GET.get("max_id", ""))
    posts = newest_shown(account.id, max_id=before, limit=POSTS + 1)
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
        "posts": posts[:POSTS],
        "older": f"?max_id={posts[POSTS - 1].status.id}" if len(posts) > POSTS else "",
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
        posts=newest_shown(account.id, max_id=None, limit=POSTS),
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
    found = list_statuses(None).select_related("account", "reblog_of").filter(id=number, account=account)
    boost_or_post = found.first()
    if boost_or_post is None:
        raise NotFound
    row = find_post(boost_or_post.reblog_of_id or boost_or_post.id, None).row
    thread = load_context(row, None)
    above, below = [each.id for each in thread.ancestors], [each.id for each in thread.descendants]
    posts = {post.status.id: post for post in load_shown([*above, row.id, *below])}
    post = posts.get(row.id)
    if post is None or not post.status.local:
        raise NotFound
    answered = post.status.in_reply_to_id is not None or post.status.in_reply_to_uri is not None
    context = {
        **person(post.status.account),
        "title": (post.warning or plain(post.status.content))[:100],
        "post": post,
        "sharing": post.sharing,
        "ancestors": [posts[number] for number in above if number in posts],
        "answers_hidden": answered and post.status.in_reply_to_id not in posts,
        "replies": [posts[number] for number in below if number in posts],
    }
    return _with_alternate(show(request, "federation/post.html", context), post.status.account, uri_of(post.status))


def _with_alternate(response: HttpResponse, account: Account, uri: str) -> HttpResponse:
    """With where WebFinger and the document are (contract, federation section 1)."""
    resource = quote(f"acct:{account.username}@{settings.LOCAL_DOMAIN}", safe="")
    response.headers["Link"] = (
        f'<{links.web_url(WEBFINGER_PATH)}?resource={resource}>; rel="lrdd"; type="application/jrd+json", '
        + alternate(uri)
    )
    response.headers["Vary"] = _VARY
    return response
