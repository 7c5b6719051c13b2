"""Web pages of local accounts, posts, hashtags and collections; servers get the ActivityPub documents at the same addresses."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from accounts.collections.pages import collection as collection_page
from accounts.models import Account
from accounts.pages.member import viewer_of
from accounts.pages.settings import signed_in
from accounts.queries.tags import named_tag
from federation.documents.context import with_context
from federation.documents.discovery import WEBFINGER_PATH
from federation.views import actors, featured_collections, negotiation, profiles, reading
from federation.views.posts import post_response
from social.kernel import ids, links
from social.kernel.errors import NotFound, require_found
from social.pages import frame, views
from statuses.pages.posts import load_shown, posts_for_templates, sharing_of, summary_of
from statuses.pages.threads import show_thread
from statuses.queries import statuses, threads
from timelines.pages.public import tag as tag_page


def profile(request: HttpRequest, username: str) -> HttpResponseBase:
    """`/@:username`: the page, or the document for a client that accepts it."""
    return _negotiated(request, _actor, _profile, username=username)


def post(request: HttpRequest, username: str, id: str) -> HttpResponseBase:
    """`/@:username/:id`: the page, or the document for a client that accepts it."""
    return _negotiated(request, negotiation.reads(post_response), _post, username=username, id=id)


def tag(request: HttpRequest, name: str) -> HttpResponseBase:
    """`/tags/:name`: the page, or the document for a client that accepts it."""
    return _negotiated(request, _hashtag, views.page(tag_page), name=name)


def collection(request: HttpRequest, id: str) -> HttpResponseBase:
    """`/collections/:id`: the page, or the document for a client that accepts it."""
    return _negotiated(
        request, negotiation.reads(featured_collections.collection_response), views.page(collection_page), id=id
    )


def _negotiated(
    request: HttpRequest,
    as_document: Callable[..., HttpResponseBase],
    as_page: Callable[..., HttpResponseBase],
    **names: str,
) -> HttpResponseBase:
    form = negotiation.preferred_representation(request)
    if form is None:
        return negotiation.not_acceptable()
    if form is negotiation.Representation.DOCUMENT:
        return as_document(request, **names)
    response = as_page(request, **names)
    patch_vary_headers(response, ("Accept", "Origin"))
    return response


@negotiation.reads
def _hashtag(request: HttpRequest, name: str) -> HttpResponse:
    """Return the document of a hashtag, which contains only an id and a type (contract, federation section 2)."""
    reading.require_signature(request)
    uri = links.tag_url(named_tag(name).name)
    return negotiation.document(with_context({"id": uri, "type": "OrderedCollection"}))


@negotiation.reads
def _actor(request: HttpRequest, username: str) -> HttpResponse:
    return actors.actor_response(request, reading.find_local_account(username, served_while_suspended=True))


def no_feed(request: HttpRequest, username: str) -> HttpResponse:
    """`/@:username/:id.rss`: 406, because a single post has no feed (contract, federation section 1)."""
    return negotiation.not_acceptable()


def _profile(request: HttpRequest, username: str) -> HttpResponseBase:
    response = profiles.profile_page(request, username)
    if response.status_code == HTTPStatus.OK:
        _add_documents(response, reading.find_local_account(username))
    return response


@views.page
def _post(request: HttpRequest, username: str, id: str) -> HttpResponseBase:
    account, number = reading.find_local_account(username), ids.parse_id(id)
    if number is None:
        raise NotFound
    viewer = viewer_of(request)
    post = statuses.find_post(number, viewer.account_id if viewer is not None else None)
    row = post.proper
    if post.account_id != account.id or not row.local:
        raise NotFound
    if viewer is not None:
        return show_thread(request, viewer, row)
    after = ids.parse_id(request.GET.get("after", ""))
    thread = threads.load_context(row, None, after=after)
    posts = {int(each["id"]): each for each in [*posts_for_templates(thread.page), *load_shown([row.id])]}
    current = require_found(posts.get(row.id))
    author = account if row.account_id == account.id else reading.find_local_account(row.username)
    first = posts.get(thread.ancestors[0].id) if thread.ancestors else None
    context = {
        "indexed": profiles.may_be_indexed(current["account"]),
        "person": current["author"],
        "title": summary_of(current)[:100],
        "post": current,
        "sharing": sharing_of(current),
        "ancestors": [posts[each.id] for each in thread.ancestors if each.id in posts],
        "earlier": first["url"] if first is not None and first["in_reply_to_id"] is not None else "",
        "answers_hidden": row.is_reply and row.in_reply_to_id not in posts,
        "replies": [posts[each.id] for each in thread.descendants if each.id in posts],
        "older": f"?after={thread.more_after}" if thread.more_after is not None else "",
        "newest": request.path if after is not None else "",
        "interact_url": reverse("interact_from_anywhere", kwargs={"username": author.username, "id": row.id}),
        "app": profiles.open_in_app(current["url"]),
    }
    response = frame.allow_caching(frame.show(request, "federation/post.html", context))
    _add_documents(response, author, row.object_uri)
    return response


def remote_post(request: HttpRequest, acct: str, id: str) -> HttpResponseBase:
    """`/@:username@:domain/:id` for signed-in people: the thread of a known post from another server. Raises NotFound."""
    user = signed_in(request)
    post = statuses.find_post(ids.parse_id(id), user.account_id).proper
    if post.local or f"{post.username}@{post.domain}".lower() != acct.lower():
        raise NotFound
    return show_thread(request, user, post)


def _add_documents(response: HttpResponseBase, account: Account, uri: str = "") -> None:
    """Add a `Link` header with the address of the account's WebFinger document and the id of the ActivityPub document: `uri`,
    or else the account's id (contract, federation section 1).
    """
    resource = quote(f"acct:{account.username}@{settings.LOCAL_DOMAIN}", safe="")
    response.headers["Link"] = (
        f'<{links.web_url(WEBFINGER_PATH)}?resource={resource}>; rel="lrdd"; type="application/jrd+json", '
        + negotiation.alternate(uri or account.uri)
    )
