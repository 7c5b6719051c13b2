"""Prepares posts for web pages and feeds, from the entities that clients get. Also contains two pages for visitors: the posts
with a hashtag, and an embedded post.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.emojis.pages import with_emojis
from accounts.models import Account, User
from accounts.pages.person import shown_author, shown_person
from accounts.queries.accounts import find_local
from social.kernel import links
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.text.markup import plain
from social.kernel.text.names import is_hashtag, unambiguous_domain, visible_text
from social.kernel.text.to_html import QUOTE_FALLBACK
from social.pages import frame
from social.pages.text import shown_html
from statuses.models import FilterAction, Interaction, MediaType
from statuses.policies.audience import may_reblog
from statuses.policies.cards import card_url, host_of
from statuses.policies.filters import strongest_action
from statuses.policies.interactions import is_pending, permission
from statuses.policies.posts import Post
from statuses.policies.quotes import Permission
from statuses.queries.listings import AccountStatusesFilter, load_account_statuses
from statuses.queries.page import PostPage, fill, hydrate
from statuses.queries.statuses import find_embeddable
from statuses.serializers.presenting import present_by_id
from statuses.services.translating import may_be_translated

_PICTURED: Final = (MediaType.IMAGE, MediaType.GIFV, MediaType.VIDEO)
_QUOTABLE: Final = (Permission.AUTOMATIC.value, Permission.MANUAL.value)


@dataclass(frozen=True)
class Reader:
    """The signed-in reader of posts on a page: their account, the context of their filters (`home`, `public` ...), and whether
    content warnings are expanded and which files are covered (`default`, `show_all`, `hide_all`).
    """

    account: Account
    context: str = ""
    opens_warnings: bool = False
    media: str = "default"


def reader_of(user: User, context: str) -> Reader:
    kept = user.preferences
    return Reader(
        user.account, context, bool(kept.get("expand_spoilers", False)), str(kept.get("expand_media", "default"))
    )


def load_shown(ids: Iterable[int], reader: Reader | None = None) -> list[dict[str, Any]]:
    """Return the posts that the reader may read, in the given order, as `statuses/card.html` expects them."""
    return posts_for_templates(hydrate(ids, reader.account.id if reader is not None else None), reader)


def newest_shown(
    account_id: int,
    post_filter: AccountStatusesFilter,
    *,
    limit: int,
    max_id: int | None = None,
    reader: Reader | None = None,
) -> list[dict[str, Any]]:
    """Return an account's newest posts that the reader may read; for a visitor, only public and unlisted posts."""
    return load_account_page(account_id, post_filter, limit, max_id=max_id, reader=reader)[0]


def load_account_page(
    account_id: int, post_filter: AccountStatusesFilter, size: int, *, max_id: int | None, reader: Reader | None
) -> tuple[list[dict[str, Any]], int | None]:
    """Return a page of an account's posts as `newest_shown` does, and the id below which the next page begins, if any."""
    viewer_id = reader.account.id if reader is not None else None
    found = load_account_statuses(account_id, viewer_id, post_filter, Cursor(size + 1, before=max_id))
    older = found.rows[size - 1].id if len(found.rows) > size else None
    found.rows = found.rows[:size]
    return posts_for_templates(fill(found), reader), older


def posts_for_templates(page: PostPage, reader: Reader | None = None) -> list[dict[str, Any]]:
    """Return the posts of a filled page as templates expect them, skipping posts that a filter of the reader hides."""
    shown = present_by_id(page)
    if reader is None:
        return [_post_for_templates(entity) for entity in shown.values()]
    rows = {row.id: row.proper for row in page.rows}
    return [
        _with_acts(_post_for_templates(entity, reader), rows[number], page, reader)
        for number, entity in shown.items()
        if action_of(entity, reader) is not FilterAction.HIDE
    ]


def action_of(entity: dict[str, Any], reader: Reader) -> FilterAction | None:
    """Return the action of the reader's filters on a post; None for the reader's own posts."""
    if entity["account"]["id"] == str(reader.account.id):
        return None
    return strongest_action(entity["filtered"], reader.context)[0]


def _with_acts(post: dict[str, Any], row: Post, page: PostPage, reader: Reader) -> dict[str, Any]:
    # The template tag `acts` shows these actions of the reader as buttons.
    mine = row.account_id == reader.account.id

    def may(kind: Interaction) -> bool:
        return permission(row, kind, reader.account.id, page.relations) is not Permission.DENIED

    acts = {
        "mine": mine,
        "boost": may_reblog(reader.account, row, page.relations) and may(Interaction.REBLOG),
        "reply": may(Interaction.REPLY),
        "favourite": may(Interaction.FAVOURITE),
        "waits": is_pending(row.interaction_policy),
        "quote": post["quote_approval"]["current_user"] in _QUOTABLE,
        "translate": may_be_translated(row, get_language() or ""),
        "report_url": "" if mine else frame.url_of("report", account_id=row.account_id),
    }
    return post | {"number": row.id, "acts": acts}


def _post_for_templates(entity: dict[str, Any], reader: Reader | None = None, around: str = "") -> dict[str, Any]:
    """Return the entity with names and links that cannot imitate others (security row 62), times as datetimes, and paths
    instead of addresses of this server, because the page may be requested under another host name of this server.

    A boost is shown as the boosted post, with the boost's own `id` and the sentence `boosted`. `quoted` is the quoted post, one
    level deep; `quote` without `quoted` means that the quoted post is not shown. `pictures` and `other_files` together are the
    post's `files`. `cover` is the reason why the files are covered, `filter_title` the title of a filter that covers the whole
    post. `rich` tells whether the post has more than its text: files, a poll, a quote or a preview. `lang` is the HTML
    attribute with the language of the post; it is empty if `around`, the language of the page or of the quoting post, is the
    same. `page_lang` is the attribute that switches back to the page's language, empty if `lang` is empty.
    """
    if entity["reblog"] is not None:
        booster = shown_author(entity["account"], member=reader is not None)
        boosted = SafeString(_("<bdi>%(name)s</bdi> boosted") % {"name": booster.shown})
        return _post_for_templates(entity["reblog"], reader) | {"id": entity["id"], "boosted": boosted}
    language = get_language() or ""
    spoken = entity["language"] or around or language
    quoted = entity["quote"].get("quoted_status") if entity["quote"] is not None else None
    warning, files = visible_text(entity["spoiler_text"]), [_file(file) for file in entity["media_attachments"]]
    files = [file for file in files if file["url"]]
    cover, filter_title = _covers(entity, reader)
    return entity | {
        "author": shown_author(entity["account"], member=reader is not None),
        "lang": "" if spoken == (around or language) else format_html(' lang="{}"', spoken),
        "page_lang": "" if spoken == language else format_html(' lang="{}"', language),
        "url": _page_of(entity, reader),
        "page_url": entity["url"] if reader is not None and "@" in entity["account"]["acct"] else "",
        "content": with_emojis(shown_html(entity["content"]), entity["emojis"]),
        "warning": warning,
        "shown_warning": with_emojis(escape(warning), entity["emojis"]),
        "open": reader is not None and reader.opens_warnings,
        "cover": cover,
        "filter_title": filter_title,
        "pinned_here": False,
        "boosted": "",
        "acts": None,
        "figures": _figures(entity, counted=reader is None),
        "moment": datetime.fromisoformat(entity["created_at"]),
        "answers": _answered_address(entity),
        "files": files,
        "pictures": [file for file in files if file["type"] in _PICTURED],
        "other_files": [file for file in files if file["type"] not in _PICTURED],
        "card": shown_card(entity["card"]) if entity["card"] is not None else None,
        "rich": bool(files or entity["poll"] or entity["quote"] or entity["card"]),
        "poll": _poll(entity["poll"]) if entity["poll"] is not None else None,
        "quoted": _post_for_templates(quoted, reader, spoken) if quoted is not None else None,
    }


def _figures(entity: dict[str, Any], *, counted: bool) -> list[str]:
    """Return the parts of a post's last line; with `counted`, also the counts that are otherwise shown on its buttons."""
    found = [_("edited")] if entity["edited_at"] else []
    if (former := entity.get("imported_from")) is not None:
        found.append(_former_place(former))
    if counted and (count := entity["replies_count"]):
        found.append(ngettext("%(counter)s reply", "%(counter)s replies", count) % {"counter": count})
    if counted and (count := entity["reblogs_count"]):
        found.append(ngettext("%(counter)s boost", "%(counter)s boosts", count) % {"counter": count})
    if counted and (count := entity["favourites_count"]):
        found.append(ngettext("%(counter)s favourite", "%(counter)s favourites", count) % {"counter": count})
    return found


def _page_of(entity: dict[str, Any], reader: Reader | None) -> str:
    # The page of a remote post on this server is only for readers who are signed in.
    here = ""
    if reader is not None and "@" in entity["account"]["acct"]:
        here = frame.url_of("remote_post", acct=entity["account"]["acct"], id=int(entity["id"]))
    return here or frame.path_of(entity["url"])


def _covers(entity: dict[str, Any], reader: Reader | None) -> tuple[str, str]:
    """Return why the files are covered, and the title of the filter that covers the whole post; both may be empty."""
    hidden, filter_title = "", ""
    media = reader.media if reader is not None else "default"
    if media == "hide_all":
        hidden = _("Media")
    elif entity["sensitive"] and media != "show_all" and not entity["spoiler_text"]:
        # A content warning covers sensitive files too.
        hidden = _("Sensitive media")
    if reader is not None and entity["account"]["id"] != str(reader.account.id):
        action, title = strongest_action(entity["filtered"], reader.context)
        if action is FilterAction.BLUR:
            hidden = title
        elif action is FilterAction.WARN:
            filter_title = title
    return visible_text(hidden), visible_text(filter_title)


def _answered_address(entity: dict[str, Any]) -> str:
    """Return the address of another account to which a post replies, if the post mentions that account; otherwise empty."""
    number = entity["in_reply_to_account_id"]
    found = (f"@{mention['acct']}" for mention in entity["mentions"] if mention["id"] == number)
    return next(found, "") if number != entity["account"]["id"] else ""


def _former_place(former: dict[str, Any]) -> str:
    """Return HTML that names the former server of an imported post, with a link to the original if its address is known."""
    if former["url"] is None:
        return _("imported from an archive")
    link = format_html(
        '<a href="{}" target="_blank" rel="nofollow noopener noreferrer"><bdi dir="ltr">{}</bdi></a>',
        former["url"],
        unambiguous_domain(former["domain"]),
    )
    return format_html(_("imported from {link}"), link=link)


def _file(file: dict[str, Any]) -> dict[str, Any]:
    meta = file["meta"] or {}
    size = meta.get("small") or meta.get("original") or {}
    focus = meta.get("focus") or {}
    # A file that this server cannot show becomes a link to its remote address.
    url = file["remote_url"] if file["type"] == MediaType.UNKNOWN and file["url"] else file["url"]
    return file | {
        "url": frame.path_of(url),
        "preview": frame.path_of(file["preview_url"]),
        "description": file["description"] or "",
        "width": size.get("width") or 0,
        "height": size.get("height") or 0,
        "focus": f"x{_tenths(focus.get('x'))} y{_tenths(-(focus.get('y') or 0.0))}",
    }


def _tenths(place: float | None) -> int:
    # Converts a coordinate from -1 to 1 into tenths of the side: the style sheet has a class for each tenth.
    return round(5 * (1 + max(-1.0, min(place or 0.0, 1.0))))


def shown_card(card: dict[str, Any]) -> dict[str, Any]:
    """Return the entity "PreviewCard" as `statuses/preview.html` expects a `card`."""
    address = card_url(card["url"])
    return card | {
        "host": unambiguous_domain(host_of(address)) if address is not None else "",
        "image": frame.path_of(card["image"]),
    }


def _poll(poll: dict[str, Any]) -> dict[str, Any]:
    # The share of an option is None while the totals are hidden.
    counts = [option["votes_count"] or 0 for option in poll["options"]]
    voters = poll["votes_count"] if poll["voters_count"] is None else poll["voters_count"]
    # With multiple choices each voter is counted once, so the percentages may add up to more than 100.
    whole = max(voters or poll["votes_count"], *counts, 1)
    own_votes = poll.get("own_votes", ())
    return poll | {
        "voters": voters,
        "open": poll.get("voted") is False and not poll["expired"],
        "expires_at": datetime.fromisoformat(poll["expires_at"]) if poll["expires_at"] is not None else None,
        "options": [
            {
                "title": visible_text(option["title"]),
                "shown_title": with_emojis(escape(visible_text(option["title"])), poll["emojis"]),
                "mine": number in own_votes,
                "share": None if option["votes_count"] is None else round(100 * option["votes_count"] / whole),
            }
            for number, option in enumerate(poll["options"])
        ],
    }


def summary_of(post: dict[str, Any]) -> str:
    """Return a post's text in one line: its content warning, or else its content without the address of the quoted post."""
    content = QUOTE_FALLBACK.sub("", post["content"])
    return " ".join(visible_text(post["warning"] or plain(content)).split())


def sharing_of(post: dict[str, Any]) -> frame.Sharing:
    """Return the preview metadata of a post's page, without anything hidden behind a content warning or marked as sensitive."""
    author, url = post["author"], frame.absolute(post["url"])
    pictures = (file for file in post["files"] if file["type"] == MediaType.IMAGE)
    open_picture = next(pictures, None) if not (post["sensitive"] or post["warning"]) else None
    return frame.Sharing(
        kind="article",
        url=url,
        title=f"{author.name} ({author.address})",
        description=summary_of(post),
        image=frame.absolute(open_picture["url"]) if open_picture is not None else frame.shown_picture(author.avatar),
        image_description=open_picture["description"] if open_picture is not None else "",
        large_image=open_picture is not None,
        published_at=post["moment"],
        username=f"{post['account']['username']}@{settings.LOCAL_DOMAIN}",
        embed_url=f"{links.web_url('/api/oembed')}?{urlencode({'url': url})}",
    )


TAGGED_POSTS_LIMIT = 20


@require_safe
def tagged(request: HttpRequest, username: str, name: str) -> HttpResponse:
    """`/@:username/tagged/:name`: the newest public and unlisted posts of an account with the hashtag. Raises NotFound."""
    account = find_local(username)
    if account.suspended or not is_hashtag(name):
        raise NotFound
    posts = newest_shown(account.id, AccountStatusesFilter(tagged=name), limit=TAGGED_POSTS_LIMIT)
    context: dict[str, Any] = {"name": name, "person": shown_person(account), "posts": posts}
    context["sharing"] = frame.sharing_of_site(request.path, title=f"#{name} – {context['person'].address}")
    return frame.allow_caching(frame.show(request, "statuses/tagged.html", context))


@require_safe
def embed(request: HttpRequest, username: str, id: str) -> HttpResponse:
    """`/@:username/:id/embed` and `/users/:username/statuses/:id/embed`: one public or unlisted post. Raises NotFound."""
    for post in load_shown([find_embeddable(username, id).id]):
        context = {"post": post, "sharing": sharing_of(post)}
        return frame.allow_caching(
            frame.allow_framing(frame.allow_scripts(frame.show(request, "statuses/embed.html", context)))
        )
    raise NotFound
