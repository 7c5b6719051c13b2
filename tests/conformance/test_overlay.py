"""Tests that every endpoint with a post also shows the viewer's own actions on it (contract, entities "Status")."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.urls import get_resolver

from accounts.models import Account
from social.api.routing import endpoints
from statuses.models import (
    Bookmark,
    ConversationMute,
    Favourite,
    Filter,
    Pin,
    PreviewCard,
    Status,
    StatusCard,
)
from statuses.queries.posts import load_posts
from statuses.services.interactions import mute_conversation
from statuses.services.pins import pin_status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import (
    follow,
    make_bookmark,
    make_favourite,
    make_filter,
    make_media,
    make_reblog,
    make_status,
)
from tests.support.client import Api
from tests.support.entities import ENTITIES
from tests.support.work import work
from timelines.models import Conversation, List, ListMember, Trend, TrendKind, TrendReview

pytestmark = pytest.mark.django_db

LINK = "https://site.example/cats"

# Endpoints that return no post in this test: those for staff, lists that are empty here, and actions that do not fit the post.
NOT_HERE = re.compile(
    r"[A-Z]+ api/v1/(?:admin|announcements|annual_reports|interaction_requests|notifications/requests|drafts)\b"
    r"|[A-Z]+ api/v1/statuses/<id>/(?:history|quotes|interaction_policy|pin)\b"
    r"|(?:PUT|PATCH) api/v1/statuses/<id>$|GET api/v2/notifications/<key>$"
)
_NAMED = re.compile(r"#/\$defs/(\w+)")
# These endpoints list only posts that the viewer has marked.
OF_MARKED = {"GET api/v1/bookmarks", "GET api/v1/favourites"}


def _routes() -> dict[tuple[str, str], str | None]:
    """Return the entities of all endpoints, keyed by method and path."""
    return {
        (method.upper(), pattern.path): pattern.declared(method).entity
        for pattern in endpoints(get_resolver("social.urls").url_patterns)
        for method in pattern.actions
    }


def _carriers() -> set[str]:
    """Return the endpoints whose entity is a post or contains posts."""
    found = {"Status"}
    while more := {name for name, shape in ENTITIES.items() if found & set(_NAMED.findall(str(shape)))} - found:
        found |= more
    routes = {f"{method} {path}" for (method, path), entity in _routes().items() if entity in found}
    return {route for route in routes if not NOT_HERE.match(route)}


def _posts_in(body: Any) -> Iterator[dict[str, Any]]:
    """Yield every entity "Status" anywhere in a body."""
    if isinstance(body, dict):
        # The OpenAPI document has members with these names too, but with a schema in place of an id.
        if {"reblogs_count", "spoiler_text"} <= body.keys() and isinstance(body.get("id"), str):
            yield body
        for value in body.values():
            yield from _posts_in(value)
    elif isinstance(body, list):
        for item in body:
            yield from _posts_in(item)


def _expected(entity: dict[str, Any], viewer: Account) -> dict[str, Any]:
    """Return the members of a post that depend on the viewer, each loaded by a separate query."""
    status = Status.objects.get(id=entity["id"])
    proper = status.reblog_of or status
    own = status.account_id == viewer.id and status.reblog_of_id is None
    shown = {
        "favourited": Favourite.objects.filter(account=viewer, status=proper).exists(),
        "reblogged": Status.objects.filter(account=viewer, reblog_of=proper, deleted_at=None).exists(),
        "bookmarked": Bookmark.objects.filter(account=viewer, status=proper).exists(),
        "muted": ConversationMute.objects.filter(account=viewer, thread_id=proper.thread_root_id).exists(),
        "filtered": [str(found.id) for found in Filter.objects.filter(account=viewer) if "cats" in proper.text],
    }
    if own and status.visibility in ("public", "unlisted", "private"):
        shown["pinned"] = Pin.objects.filter(account=viewer, status=status).exists()
    return shown


@pytest.mark.parametrize("marked", [True, False])
def test_every_endpoint_with_posts_shows_the_viewers_own_actions(marked: bool, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    viewer, author = make_user("viewer"), make_user("author").account
    reader = viewer.account
    follow(reader, author)
    mine = make_status(reader, "mine #cats")
    post = make_status(author, "@viewer hello #cats")
    answer = make_status(author, "more #cats", reply_to=post)
    make_status(author, "@viewer secret #cats", visibility="direct")
    _show_everywhere(post)
    if marked:
        for status in (post, answer):
            make_favourite(reader, status)
            make_reblog(reader, status)
            make_bookmark(reader, status)
        pin_status(account_id=reader.id, status=load_posts([mine.id])[0])
        make_filter(reader, "cats")
    work()
    note_id = _notification_of(reader, post)
    if marked:
        mute_conversation(account_id=reader.id, status=load_posts([post.id])[0])
    media_id = make_media(reader).id
    token = make_token(viewer, "read write follow push")
    wanted_list = List.objects.create(account=reader, title="Friends")
    ListMember.objects.create(list=wanted_list, account=author)
    conversation_id = Conversation.objects.get(account=reader).id
    ids = {
        "api/v1/conversations/<id>": conversation_id,
        "api/v1/accounts/<id>": author.id,
        "api/v1/media/<id>": media_id,
        "api/v1/notifications/<id>": note_id,
    }
    seen: dict[str, set[int]] = {}
    for method, path in sorted(_routes()):
        root = path[: path.find("<id>") + 4]
        # Users can only delete their own posts.
        target = mine.id if method == "DELETE" else ids.get(root, post.id)
        address = re.sub(
            r"<[a-z_]+>", str(target), path.replace("<hashtag>", "cats").replace("<list_id>", str(wanted_list.id))
        )
        data: dict[str, Any] = {"q": "from:author", "url": LINK}
        data |= {"id[]": [post.id, answer.id]} if path == "api/v1/statuses" and method == "GET" else {}
        body = {"status": "another #cats", "in_reply_to_id": str(post.id)} if path == "api/v1/statuses" else {}
        with transaction.atomic():
            api = Api(token)
            answered = api.get(f"/{address}", data) if method == "GET" else api.request(method, f"/{address}", body)
            if answered.status_code == 200 and answered["Content-Type"].startswith("application/json"):
                for entity in _posts_in(answered.json()):
                    wanted = _expected(entity, reader)
                    if method == "DELETE":
                        # the response shows the post as it was before the deletion, except that it is no longer pinned
                        wanted["pinned"] = marked
                    given = entity | {"filtered": [found["filter"]["id"] for found in entity["filtered"]]}
                    assert wanted == {name: given.get(name) for name in wanted}, f"{method} {path}"
                    seen.setdefault(f"{method} {path}", set()).add(int(entity["id"]))
            transaction.set_rollback(True)
    assert set(seen) == _carriers() - (set() if marked else OF_MARKED)
    # The lists must have contained the post that the viewer has marked, not just other posts.
    lists = {
        route for route in seen if route.startswith("GET") and not route.endswith(("<id>/context", "v1/conversations"))
    }
    assert {route for route in lists if post.id not in seen[route]} == set()


def _show_everywhere(post: Status) -> None:
    """Make the post and the link in it trend."""
    Account.objects.filter(id=post.account_id).update(discoverable=True)
    card = PreviewCard.objects.create(url=LINK, title="Cats")
    StatusCard.objects.create(status=post, card=card, url=LINK)
    for kind, object_id in ((TrendKind.STATUS, post.id), (TrendKind.LINK, card.id)):
        Trend.objects.create(kind=kind, object_id=object_id, score=5)
        TrendReview.objects.create(kind=kind, object_id=object_id, trendable=True)


def _notification_of(account: Account, status: Status) -> int:
    from notifications.models import Notification

    return Notification.objects.filter(account=account, status=status).values_list("id", flat=True).first() or 0
