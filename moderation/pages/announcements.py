"""The page of this server's announcements for signed-in people, who mark them as read and react to them."""

from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST, require_safe

from accounts.emojis.pages import with_emojis
from accounts.pages.member import back, refuse
from accounts.pages.settings import counted, signed_in
from moderation.models import Announcement
from moderation.queries.announcements import find_shown, list_shown, load_reactions, show
from moderation.serializers.announcement import present_announcements
from moderation.services.announcements import add_reaction, dismiss_announcement, remove_reaction
from social.api import limits
from social.kernel.errors import Invalid, NotFound
from social.kernel.text.names import clean_input
from social.pages import frame
from social.pages.text import shown_html, with_headings_below
from statuses.pages.posts import posts_for_templates, reader_of

#: Emojis that are offered in addition to the emojis that readers have used.
_OFFERED: Final = ("👍", "❤️", "🎉", "😄", "😢")


@require_safe
def announcements(request: HttpRequest) -> HttpResponse:
    """`/announcements`: the announcements of `GET /api/v1/announcements`; unread announcements come first, newest first."""
    user = signed_in(request)
    loaded = show([*reversed(list_shown())], user.account_id)
    posts = {post["number"]: post for post in posts_for_templates(loaded.statuses, reader_of(user, "public"))}
    entities = sorted(present_announcements(loaded), key=lambda entity: entity["read"])
    numbers = {str(row.id): row.status_ids for row in loaded.rows}
    context = {"announcements": [_for_template(entity, numbers[entity["id"]], posts) for entity in entities]}
    return frame.show(request, "moderation/announcements.html", context)


def _for_template(entity: dict[str, Any], status_ids: list[int], posts: dict[int, dict[str, Any]]) -> dict[str, Any]:
    used = {reaction["name"] for reaction in entity["reactions"]}
    times = ("published_at", "starts_at", "ends_at")
    moments = {name: datetime.fromisoformat(entity[name]) if entity[name] else None for name in times}
    return {
        **entity,
        **moments,
        "html": with_emojis(with_headings_below(shown_html(entity["content"]), 2), entity["emojis"]),
        "posts": [posts[number] for number in status_ids if number in posts],
        "reactions": [
            {**reaction, "picture": frame.path_of(reaction.get("static_url"))} for reaction in entity["reactions"]
        ],
        "offered": [name for name in _OFFERED if name not in used],
    }


@require_POST
def act_on_announcement(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /announcements/:id/act`: mark an announcement as read (`dismiss`), or add (`react`) or remove (`unreact`) a
    reaction, and redirect to the page. Repeating an action has no effect. Raises NotFound if the announcement is not shown.
    """
    user = signed_in(request)
    counted(limits.GENERAL_RULES[0], user)
    announcement, form = find_shown(id), request.POST
    if "dismiss" in form:
        dismiss_announcement(account_id=user.account_id, announcement=announcement)
    elif "react" in form:
        _react(request, user.account_id, announcement, clean_input(form["react"]).strip().strip(":"))
    elif "unreact" in form:
        with suppress(NotFound):
            remove_reaction(account_id=user.account_id, announcement=announcement, name=clean_input(form["unreact"]))
    else:
        raise NotFound
    return back(request, f"announcement-{id}")


def _react(request: HttpRequest, account_id: int, announcement: Announcement, name: str) -> None:
    reactions = load_reactions([announcement.id], account_id, name=name).get(announcement.id, ())
    if any(reaction.me for reaction in reactions):
        return
    try:
        add_reaction(account_id=account_id, announcement=announcement, name=name)
    except Invalid as refusal:
        refuse(request, refusal)
