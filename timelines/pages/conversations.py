"""Pages of a signed-in person's conversations and of the hashtags that they follow."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.pages.member import back, refuse
from accounts.pages.person import shown_author
from accounts.pages.settings import signed_in
from accounts.queries.tags import list_followed_tags
from accounts.serializers.account import present_accounts
from accounts.services.tags import follow_tag, unfollow_tag
from social.kernel.errors import NotFound
from social.kernel.text.names import clean_input
from social.pages.frame import show
from social.pages.paging import read_page
from statuses.pages.posts import load_shown, reader_of
from statuses.queries.tags import find_tag
from timelines.queries.lists import list_conversations
from timelines.services.conversations import mark_conversation, remove_conversation


@require_safe
def conversations(request: HttpRequest) -> HttpResponse:
    """`/conversations`: the reader's conversations as `GET /api/v1/conversations` lists them, each with its last post."""
    user = signed_in(request)
    rows, paging = read_page(request, list_conversations(user.account_id), "last_status_id")
    names = {number for row in rows for number in (row.participants or [row.account_id])}
    entities = present_accounts(sorted(names), user.account_id)
    people = {number: shown_author(entity, member=True) for number, entity in entities.items()}
    shown = load_shown([row.last_status_id for row in rows], reader_of(user, "thread"))
    posts = {post["number"]: post for post in shown}
    context: dict[str, Any] = {
        **paging,
        "conversations": [
            {
                "id": row.id,
                "unread": row.unread,
                "people": [people[number] for number in row.participants or [row.account_id] if number in people],
                "post": posts.get(row.last_status_id),
            }
            for row in rows
        ],
        "of_others": True,
    }
    return show(request, "timelines/conversations.html", context)


@require_POST
def act_on_conversation(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /conversations/:id`: carry out `act` (`read`, `unread` or `remove`). Raises NotFound for others' conversations."""
    account_id, act = signed_in(request).account_id, request.POST.get("act", "")
    if act == "remove":
        remove_conversation(account_id=account_id, conversation_id=id)
        messages.success(request, _("The conversation has been removed. It comes back with its next post."))
    elif act in ("read", "unread"):
        mark_conversation(account_id=account_id, conversation_id=id, unread=act == "unread")
    else:
        raise NotFound
    return back(request, f"conversation-{id}")


@require_http_methods(["GET", "HEAD", "POST"])
def followed_tags(request: HttpRequest) -> HttpResponse:
    """`/followed_tags`: the followed hashtags, the latest follow first. A POST request follows the hashtag in `follow`, or
    unfollows the hashtag in `unfollow`.
    """
    account_id = signed_in(request).account_id
    if request.method == "POST":
        added = clean_input(request.POST.get("follow", "")).strip().removeprefix("#")
        try:
            if added:
                follow_tag(account_id=account_id, name=added)
            else:
                unfollow_tag(account_id=account_id, tag=find_tag(request.POST.get("unfollow", ""), account_id))
        except NotFound:
            refuse(request, _("A hashtag consists of letters, digits and underscores."))
        return back(request)
    rows, paging = read_page(request, list_followed_tags(account_id))
    context = {**paging, "tags": [row.tag for row in rows], "of_others": True}
    return show(request, "timelines/followed_tags.html", context)
