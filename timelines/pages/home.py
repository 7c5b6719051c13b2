"""The home timeline of a signed-in person, at the path of the front page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.identity.queries.tokens import SignInState, find_sign_in_state
from accounts.models import User
from accounts.pages.front_page import front, suggestions
from social.kernel.ids import parse_id
from social.pages.frame import show
from social.pages.paging import PAGE_SIZE, cursor_of, links, one_page
from statuses.pages.post_form import initial_of
from statuses.pages.posts import posts_for_templates, reader_of
from statuses.pages.short_form import ShortPostForm
from statuses.queries.page import fill
from timelines.services.home import load_home_page


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """`/`: the home timeline for signed-in people, with the cursors of the API, or the front page for everybody else. Posts
    after `since`, the newest post that the reader has seen, are counted as new.
    """
    user = request.user
    if not isinstance(user, User) or find_sign_in_state(user) is not SignInState.ACTIVE:
        return front(request)
    cursor = cursor_of(request, PAGE_SIZE)
    page = load_home_page(user.account_id, cursor)
    found, page.rows = page.rows, one_page(page.rows, cursor)
    posts = posts_for_templates(fill(page), reader_of(user, "home")) if page.rows else []
    since = parse_id(request.GET.get("since", ""))
    new = sum(number > since for number in page.ids) if since is not None else None
    paging = links(request, found, cursor, page.ids)
    context: dict[str, Any] = {
        **paging,
        "posts": posts,
        "new": new,
        "more_new": bool(new) and new == len(page.ids) and bool(paging["older"]),
        "since": page.ids[0] if page.ids and not paging["newest"] else "",
        "form": ShortPostForm(initial=initial_of(user)),
        "suggestions": suggestions(user.account_id) if not found else [],
        "introduced": bool(user.account.note and user.account.avatar),
    }
    return show(request, "timelines/home.html", context)
