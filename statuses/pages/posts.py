"""Prepares posts for web pages and feeds, from the same entities that clients get, and shows two pages: an account's
posts with a hashtag, and a post in a frame on another site.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.html import escape
from django.views.decorators.http import require_safe

from accounts.emojis.pages import with_emojis
from accounts.pages.person import shown_author, shown_person
from accounts.queries.accounts import find_local
from social.kernel import links
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.text.markup import plain
from social.kernel.text.names import is_hashtag, unambiguous_domain, visible_text
from social.kernel.text.to_html import QUOTE_FALLBACK
from social.pages.frame import (
    Sharing,
    absolute,
    allow_caching,
    allow_framing,
    allow_scripts,
    path_of,
    sharing_of_site,
    show,
    shown_picture,
)
from social.pages.text import shown_html
from statuses.models import MediaType
from statuses.policies.cards import card_url, host_of
from statuses.queries.listings import AccountStatusesFilter, load_account_statuses
from statuses.queries.page import PostPage, fill, hydrate
from statuses.queries.statuses import find_embeddable
from statuses.serializers.presenting import present

_PICTURED: Final = (MediaType.IMAGE, MediaType.GIFV, MediaType.VIDEO)


def load_shown(ids: Iterable[int]) -> list[dict[str, Any]]:
    """Return the public and unlisted posts with these ids, in this order, as `statuses/card.html` expects a `post`."""
    return posts_for_templates(hydrate(ids, None))


def newest_shown(
    account_id: int, post_filter: AccountStatusesFilter, *, limit: int, max_id: int | None = None
) -> list[dict[str, Any]]:
    """Return an account's public and unlisted posts, newest first."""
    return posts_for_templates(fill(load_account_statuses(account_id, None, post_filter, Cursor(limit, before=max_id))))


def posts_for_templates(page: PostPage) -> list[dict[str, Any]]:
    """Return the posts of a filled page, which was loaded for an anonymous viewer, as templates expect them."""
    return [_post_for_templates(entity) for entity in present(page)]


def _post_for_templates(entity: dict[str, Any]) -> dict[str, Any]:
    """Return the entity with names and links that cannot be mistaken for others (security row 62), times as datetimes,
    and paths instead of addresses of this server, because the page may be requested under another host name of this
    server.

    A boost is shown as the boosted post, with the boost's own `id` and its account as `boosted_by`. `quoted` is the quoted
    post, one level deep; `quote` without `quoted` means that the quoted post is not shown. `pictures` and `other_files`
    together are its `files`.
    """
    if entity["reblog"] is not None:
        return _post_for_templates(entity["reblog"]) | {
            "id": entity["id"],
            "boosted_by": shown_author(entity["account"]),
        }
    quoted = entity["quote"].get("quoted_status") if entity["quote"] is not None else None
    warning, files = visible_text(entity["spoiler_text"]), [_file(file) for file in entity["media_attachments"]]
    files = [file for file in files if file["url"]]
    return entity | {
        "author": shown_author(entity["account"]),
        "url": path_of(entity["url"]),
        "content": with_emojis(shown_html(entity["content"]), entity["emojis"]),
        "warning": warning,
        "shown_warning": with_emojis(escape(warning), entity["emojis"]),
        "moment": datetime.fromisoformat(entity["created_at"]),
        "answers": _answered_address(entity),
        "files": files,
        "pictures": [file for file in files if file["type"] in _PICTURED],
        "other_files": [file for file in files if file["type"] not in _PICTURED],
        "card": shown_card(entity["card"]) if entity["card"] is not None else None,
        "poll": _poll(entity["poll"]) if entity["poll"] is not None else None,
        "quoted": _post_for_templates(quoted) if quoted is not None else None,
    }


def _answered_address(entity: dict[str, Any]) -> str:
    """Return the address of the account to which a post replies, if the post mentions that account; empty if the post
    does not reply to another account.
    """
    number = entity["in_reply_to_account_id"]
    found = (f"@{mention['acct']}" for mention in entity["mentions"] if mention["id"] == number)
    return next(found, "") if number != entity["account"]["id"] else ""


def _file(file: dict[str, Any]) -> dict[str, Any]:
    meta = file["meta"] or {}
    size = meta.get("small") or meta.get("original") or {}
    focus = meta.get("focus") or {}
    # A file that this server cannot show becomes a link to its remote address.
    url = file["remote_url"] if file["type"] == MediaType.UNKNOWN and file["url"] else file["url"]
    return file | {
        "url": path_of(url),
        "preview": path_of(file["preview_url"]),
        "description": file["description"] or "",
        "width": size.get("width") or 0,
        "height": size.get("height") or 0,
        "focus": f"x{_tenths(focus.get('x'))} y{_tenths(-(focus.get('y') or 0.0))}",
    }


def _tenths(place: float | None) -> int:
    """Convert a coordinate of a focal point, from -1 to 1, to tenths of the side: the style sheet has a class for each."""
    return round(5 * (1 + max(-1.0, min(place or 0.0, 1.0))))


def shown_card(card: dict[str, Any]) -> dict[str, Any]:
    """Return the entity "PreviewCard" as `statuses/preview.html` expects a `card`."""
    address = card_url(card["url"])
    return card | {
        "host": unambiguous_domain(host_of(address)) if address is not None else "",
        "image": path_of(card["image"]),
    }


def _poll(poll: dict[str, Any]) -> dict[str, Any]:
    """Add the percentage of votes of each option, None while the totals are hidden."""
    counts = [option["votes_count"] or 0 for option in poll["options"]]
    voters = poll["votes_count"] if poll["voters_count"] is None else poll["voters_count"]
    # With multiple choices each voter is counted once, so the percentages may add up to more than 100.
    whole = max(voters or poll["votes_count"], *counts, 1)
    return poll | {
        "voters": voters,
        "expires_at": datetime.fromisoformat(poll["expires_at"]) if poll["expires_at"] is not None else None,
        "options": [
            {
                "title": visible_text(option["title"]),
                "shown_title": with_emojis(escape(visible_text(option["title"])), poll["emojis"]),
                "share": None if option["votes_count"] is None else round(100 * option["votes_count"] / whole),
            }
            for option in poll["options"]
        ],
    }


def summary_of(post: dict[str, Any]) -> str:
    """Return the text of a post in one line: its content warning if it has one; never the address of the quoted post."""
    content = QUOTE_FALLBACK.sub("", post["content"])
    return " ".join(visible_text(post["warning"] or plain(content)).split())


def sharing_of(post: dict[str, Any]) -> Sharing:
    """Return the preview metadata of a post's page, without anything that its author has hidden behind a content warning
    or marked as sensitive.

    The picture is the post's first picture, otherwise the author's avatar, otherwise the server's picture.
    """
    author, url = post["author"], absolute(post["url"])
    pictures = (file for file in post["files"] if file["type"] == MediaType.IMAGE)
    open_picture = next(pictures, None) if not (post["sensitive"] or post["warning"]) else None
    return Sharing(
        kind="article",
        url=url,
        title=f"{author.name} ({author.address})",
        description=summary_of(post),
        image=absolute(open_picture["url"]) if open_picture is not None else shown_picture(author.avatar),
        image_description=open_picture["description"] if open_picture is not None else "",
        large_image=open_picture is not None,
        published_at=post["moment"],
        username=f"{post['account']['username']}@{settings.LOCAL_DOMAIN}",
        embed_url=f"{links.web_url('/api/oembed')}?{urlencode({'url': url})}",
    )


TAGGED_POSTS_LIMIT = 20


@require_safe
def tagged(request: HttpRequest, username: str, name: str) -> HttpResponse:
    """`/@:username/tagged/:name`: the newest public and unlisted posts of an account with the hashtag.

    Raises NotFound for an account that is unknown or suspended, and for an invalid hashtag.
    """
    account = find_local(username)
    if account.suspended or not is_hashtag(name):
        raise NotFound
    posts = newest_shown(account.id, AccountStatusesFilter(tagged=name), limit=TAGGED_POSTS_LIMIT)
    context: dict[str, Any] = {"name": name, "person": shown_person(account), "posts": posts}
    context["sharing"] = sharing_of_site(request.path, title=f"#{name} – {context['person'].address}")
    return allow_caching(show(request, "statuses/tagged.html", context))


@require_safe
def embed(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/@:username/:id/embed` and `/users/:username/statuses/:id/embed`: one public or unlisted post.

    The page's script only sends the page's height to the embedding page. Raises NotFound.
    """
    for post in load_shown([find_embeddable(username, id).id]):
        context = {"post": post, "sharing": sharing_of(post)}
        return allow_caching(allow_framing(allow_scripts(show(request, "statuses/embed.html", context))))
    raise NotFound
