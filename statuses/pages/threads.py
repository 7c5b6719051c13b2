"""Pages of a post for signed-in people (thread, boosts and favourites, translation), and of their bookmarks and favourites."""

from collections.abc import Callable
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, get_language_info
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.emojis.pages import with_emojis
from accounts.models import User
from accounts.pages.member import viewer_of
from accounts.pages.person import shown_author
from accounts.pages.settings import signed_in
from accounts.serializers.account import present_accounts
from social.api import limits
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from social.kernel.text.languages import LANGUAGE_NAMES
from social.kernel.text.names import visible_text
from social.pages.frame import show
from social.pages.paging import read_page
from social.pages.text import shown_html
from statuses.pages.acts import counted_all
from statuses.pages.posts import load_shown, posts_for_templates, reader_of
from statuses.policies.posts import Post
from statuses.policies.translations import Translation
from statuses.ports import refresh_thread
from statuses.queries.listings import list_bookmarks, list_favourites, list_favourites_of, list_reblogs_of
from statuses.queries.statuses import find_post
from statuses.queries.threads import Context, incomplete_from, load_context
from statuses.services.translating import translate_post

#: Deeper replies are not shown; a reply at this depth that has further replies gets a link to its own page.
_DEPTH_LIMIT: Final = 6
_PEOPLE: Final[dict[str, Callable[[int, int | None], QuerySet[Any]]]] = {
    "boosts": list_reblogs_of,
    "favourites": list_favourites_of,
}
_PEOPLE_PER_PAGE: Final = 40


def show_thread(request: HttpRequest, user: User, row: Post) -> HttpResponse:
    """Show a post in its thread; missing remote posts are fetched in the background. Raises NotFound."""
    after = parse_id(request.GET.get("after", ""))
    thread = load_context(row, user.account_id, after=after)
    fetching = refresh_thread(incomplete_from(row, thread), account_id=user.account_id)
    posts = {int(post["id"]): post for post in posts_for_templates(thread.page, reader_of(user, "thread"))}
    current = require_found(next(iter(load_shown([row.id], reader_of(user, ""))), None))
    context = {
        "person": current["author"],
        "post": current,
        "ancestors": [posts[each.id] for each in thread.ancestors if each.id in posts],
        "replies": _tree(row, thread, posts),
        "older": f"?after={thread.more_after}" if thread.more_after is not None else "",
        "newest": request.path if after is not None else "",
        "fetching": fetching is not None and fetching.running,
        **{f"{kind}_url": reverse("post_people", kwargs={"id": row.id, "kind": kind}) for kind in _PEOPLE},
    }
    return show(request, "statuses/thread.html", context)


def _tree(root: Post, thread: Context, posts: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the replies in the order of the tree, each with its `depth`; `deeper` marks a reply whose own replies are left
    out.
    """
    depths = {root.id: 0}
    shown: dict[int, dict[str, Any]] = {}
    for reply in thread.descendants:
        depth = depths[reply.id] = depths.get(reply.in_reply_to_id or 0, 0) + 1
        if depth > _DEPTH_LIMIT:
            if reply.in_reply_to_id in shown:
                shown[reply.in_reply_to_id]["deeper"] = True
        elif reply.id in posts:
            shown[reply.id] = posts[reply.id] | {"depth": depth, "deeper": False}
    return list(shown.values())


@require_safe
def numbered(request: HttpRequest, id: str) -> HttpResponse:
    """`/statuses/:id`, a path of Mastodon's web app: redirects to the page of the post. Raises NotFound."""
    viewer = viewer_of(request)
    post = find_post(parse_id(id), viewer.account_id if viewer is not None else None).proper
    if post.domain is not None:
        return redirect("remote_post", acct=f"{post.username}@{post.domain}", id=post.id)
    return redirect("post", username=post.username, id=post.id)


@require_safe
def people(request: HttpRequest, id: int, kind: str) -> HttpResponse:
    """`/statuses/:id/boosts` and `/favourites`: who boosted or favourited a post. Raises NotFound for an unreadable post."""
    user = signed_in(request)
    post = find_post(id, user.account_id).proper
    marks = _PEOPLE[kind](post.id, user.account_id).only("id", "account_id")
    found, paging = read_page(request, marks, size=_PEOPLE_PER_PAGE)
    entities = present_accounts([row.account_id for row in found], user.account_id)
    context = {
        **paging,
        "title": _("Boosted by") if kind == "boosts" else _("Favourited by"),
        "people": [shown_author(entity, member=True) for entity in entities.values()],
        "posts": load_shown([post.id], reader_of(user, "")),
    }
    return show(request, "statuses/people.html", context)


_FILES: Final = ("files", "pictures", "other_files")


@require_safe
def translation(request: HttpRequest, id: int) -> HttpResponse:
    """`/statuses/:id/translation`: the post in the language of the page. Raises the same errors as `translate_post`."""
    user = signed_in(request)
    counted_all(limits.limited("translations"), user)
    found, _body, translated = translate_post(account_id=user.account_id, status_id=id, language=get_language() or "")
    post = require_found(next(iter(load_shown([found.id], reader_of(user, ""))), None))
    context = {
        "person": post["author"],
        "post": _translated_post(post, translated),
        "source": _name_of(translated.detected_source_language),
        "provider": translated.provider,
    }
    return show(request, "statuses/translation.html", context)


def _translated_post(post: dict[str, Any], translated: Translation) -> dict[str, Any]:
    warning = visible_text(translated.spoiler_text)
    described = {
        kind: [file | {"description": translated.descriptions.get(file["id"], "")} for file in post[kind]]
        for kind in _FILES
    }
    changed = post | described | {
        "content": with_emojis(shown_html(translated.content), post["emojis"]),
        "warning": warning,
        "shown_warning": with_emojis(escape(warning), post["emojis"]),
        **_languages(post, translated.language),
        "acts": post["acts"] | {"translate": False},
    }  # fmt: skip
    if post["poll"] is not None:
        options = [
            option
            | {"title": visible_text(title), "shown_title": with_emojis(escape(visible_text(title)), post["emojis"])}
            for option, title in zip(post["poll"]["options"], translated.options, strict=False)
        ]
        changed["poll"] = post["poll"] | {"options": options}
    return changed


def _languages(post: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the `lang` attributes of a post that was translated into `language`, and of the post that it quotes."""
    attribute = SafeString("") if language == get_language() else format_html(' lang="{}"', language)
    quoted = post["quoted"]
    if quoted is not None and not quoted["lang"]:
        quoted = quoted | {"lang": post["lang"]}
    return {"lang": attribute, "page_lang": post["page_lang"] if attribute else "", "quoted": quoted}


def _name_of(code: str) -> str:
    """Return the name of a language in the language of the page, or else in English; empty for an unknown code."""
    try:
        return str(get_language_info(code)["name_translated"]) if code else ""
    except KeyError:
        return LANGUAGE_NAMES.get(code, code)


@require_safe
def bookmarks(request: HttpRequest) -> HttpResponse:
    """`/bookmarks`: the bookmarked posts, the latest bookmark first, as `GET /api/v1/bookmarks` lists them."""
    rows = list_bookmarks(signed_in(request).account_id)
    return _show(request, rows, _("Bookmarks"), _("Only you see which posts you have bookmarked."))


@require_safe
def favourites(request: HttpRequest) -> HttpResponse:
    """`/favourites`: the favourited posts, the latest favourite first, as `GET /api/v1/favourites` lists them."""
    rows = list_favourites(signed_in(request).account_id)
    return _show(request, rows, _("Favourites"), _("The author of a post is notified when you favourite it."))


def _show(request: HttpRequest, queryset: QuerySet[Any], title: str, hint: str) -> HttpResponse:
    rows, paging = read_page(request, queryset.only("id", "status_id"))
    context = {
        **paging,
        "title": title,
        "hint": hint,
        "posts": load_shown([row.status_id for row in rows], reader_of(signed_in(request), "")),
    }
    return show(request, "statuses/marks.html", context)
