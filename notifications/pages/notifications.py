"""The page of a signed-in person's notifications, in groups."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from accounts.pages.member import back
from accounts.pages.person import Person, shown_author
from accounts.pages.settings import signed_in
from accounts.queries.users import forget_waiting
from notifications.models import NotificationType
from notifications.models.notification import MESSAGE_TYPES
from notifications.policies.titles import title_of_group, title_of_report
from notifications.queries.groups import GROUPED_TYPES, list_heads, load_group_page, load_groups
from notifications.queries.listing import NotificationFilter
from notifications.queries.requests import count_requests
from notifications.serializers.notification import present_groups
from notifications.services.notifying import clear, dismiss_group
from social.kernel.text.names import clean_input, visible_text
from social.pages.frame import show, url_of
from social.pages.paging import cursor_of, links, one_page
from statuses.pages.posts import posts_for_templates, reader_of
from timelines.models import Timeline
from timelines.queries.lists import load_markers
from timelines.services.markers import save_markers

#: The page is shorter than other pages, because each notification shows a post, pictures of people and buttons.
_PAGE_SIZE: Final = 15
#: Filters of the page, by the value of `only`.
_CHOICES: Final[Mapping[str, tuple[NotificationType, ...]]] = {"": (), "mentions": MESSAGE_TYPES}
#: Icons of notifications, as classes of `member.css`; all other types have a bell.
_ICONS: Final[Mapping[str, str]] = {
    NotificationType.MENTION: "reply",
    NotificationType.REBLOG: "boost",
    NotificationType.FAVOURITE: "star",
    NotificationType.STATUS: "pen",
    NotificationType.UPDATE: "pen",
    NotificationType.QUOTED_UPDATE: "pen",
    NotificationType.MODERATION_WARNING: "shield",
    NotificationType.ADMIN_REPORT: "shield",
    NotificationType.ADMIN_SIGN_UP: "shield",
}
#: Pages that notifications link to for further action: URL names by notification type.
_PAGES: Final[Mapping[str, str]] = {
    NotificationType.FOLLOW_REQUEST: "follow_requests",
    NotificationType.SEVERED_RELATIONSHIPS: "severances",
    NotificationType.ADMIN_SIGN_UP: "admin:index",
}


@require_safe
def notifications(request: HttpRequest) -> HttpResponse:
    """`/notifications`: the groups of `GET /api/v2/notifications`, newest first; with `only=mentions`, only mentions.

    The first page stores the marker, so that its notifications no longer count as unread in any client.
    """
    user = signed_in(request)
    me, chosen = user.account_id, request.GET.get("only", "")
    types = _CHOICES.get(chosen, ())
    cursor = cursor_of(request, _PAGE_SIZE)
    heads = list_heads(me, NotificationFilter(types), GROUPED_TYPES, cursor)
    rows = one_page(heads.rows, cursor)
    page = load_group_page(load_groups(me, rows, GROUPED_TYPES, heads.span) if rows else [], me)
    entity = present_groups(page, paged=True)
    posts = {post["number"]: post for post in posts_for_templates(page.statuses, reader_of(user, "notifications"))}
    people = {account["id"]: shown_author(account, member=True) for account in entity["accounts"]}
    first_page = cursor.before is None and cursor.after is None
    read = None
    if first_page and not types:
        read = _mark_read(me, entity["notification_groups"])
        forget_waiting(user, "notifications")
    found = [
        shown
        for group in entity["notification_groups"]
        if (shown := _for_template(group, people, posts, me, read)) is not None
    ]
    context = {
        **links(request, heads.rows, cursor, [row.id for row in rows]),
        "found": found,
        "only": chosen if chosen in _CHOICES else "",
        "requests_url": url_of("follow_requests"),
        "announcements_url": url_of("announcements"),
        "held": count_requests(me).requests,
        "of_others": True,
    }
    return show(request, "notifications/notifications.html", context)


def _mark_read(account_id: int, groups: Sequence[dict[str, Any]]) -> int:
    before = next((marker.last_read_id for marker in load_markers(account_id, [Timeline.NOTIFICATIONS])), 0)
    newest = max((int(group["most_recent_notification_id"]) for group in groups), default=0)
    if newest > before:
        save_markers(account_id=account_id, positions={Timeline.NOTIFICATIONS: newest})
    return before


def _for_template(
    group: dict[str, Any],
    people: Mapping[str, Person],
    posts: Mapping[int, dict[str, Any]],
    account_id: int,
    read: int | None,
) -> dict[str, Any] | None:
    """Return a group as the template expects it; None if a filter of the reader hides the post."""
    kind, post = group["type"], None
    if "status_id" in group:
        post = posts.get(int(group["status_id"]))
        if post is None:
            return None
    senders = [people[number] for number in group["sample_account_ids"] if number in people]
    name, others = senders[0].name if senders else "", group["notifications_count"] - 1
    own = bool(group["sample_account_ids"]) and group["sample_account_ids"][0] == str(account_id)
    title, url = title_of_group(kind, name, others, own=own), url_of(_PAGES.get(kind, ""))
    if warning := group.get("moderation_warning"):
        url = url_of("strike", strike_id=int(warning["id"]))
    if report := group.get("report"):
        target = report["target_account"]
        title = title_of_report(name, visible_text(target["display_name"]) or target["username"])
        url = url_of("admin:moderation_report_case", account_id=int(target["id"]))
    return {
        "key": group["group_key"],
        "title": title,
        "remove": _("Remove the notification: %(title)s") % {"title": title},
        "icon": _ICONS.get(kind, "bell"),
        "faces": senders if not own and (len(senders) > 1 or post is None) else [],
        "post": post,
        "moment": datetime.fromisoformat(group["latest_page_notification_at"]),
        "new": read is not None and int(group["most_recent_notification_id"]) > read,
        "url": url,
    }


@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    """`POST /notifications/remove`: remove a group (`key`) or every notification (`all`), and redirect back (303)."""
    user = signed_in(request)
    if request.POST.get("all"):
        clear(account_id=user.account_id)
        messages.success(request, _("All notifications have been removed."))
    else:
        dismiss_group(account_id=user.account_id, key=clean_input(request.POST.get("key", "")))
    return back(request)
