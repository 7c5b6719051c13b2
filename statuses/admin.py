"""Admin pages on which staff view public and unlisted posts, and remove them."""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.timezone import localtime
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from accounts.admin.accounts import account_link
from accounts.admin.acting import ActingAdmin
from accounts.models import Account
from accounts.models.user import Permission
from accounts.queries.accounts import has_address, split_address
from social.api.staff import newest
from social.api.staff_acts import Act, Words
from social.api.staff_columns import condition_filter, lines, link, row_link, shortened, shown
from social.kernel import links
from social.kernel.ids import parse_id
from social.kernel.media import storage
from social.kernel.text.markup import plain
from statuses.models import MediaAttachment, MediaType, Status
from statuses.policies.posts import READ_COLUMNS
from statuses.policies.visibility import ADDRESSED_VISIBILITIES, FOLLOWER_VISIBILITIES, OPEN_VISIBILITIES
from statuses.queries.statuses import load_earlier_words
from statuses.services.moderating import remove_status

EXCERPT = 160
ID_LENGTH = 15
# Number of newest posts in which staff can search for parts of words. A search reads each of these posts twice, to list and to
# count the results; for a million posts that would take seconds.
POSTS_SEARCHED = 20_000
VISIBILITIES: dict[Any, Any] = dict(
    zip(FOLLOWER_VISIBILITIES, (_("Public"), _("Unlisted"), _("Only followers")), strict=True)
) | dict.fromkeys(ADDRESSED_VISIBILITIES, _("Only people who are mentioned"))
FILE_KINDS: dict[str, Any] = {
    MediaType.IMAGE: _("Picture"),
    MediaType.GIFV: _("Animation"),
    MediaType.VIDEO: _("Video"),
    MediaType.AUDIO: _("Sound"),
}
_ID_IN_ADDRESS = re.compile(r"^https?://\S+?/(\d+)/?$")


HomeFilter = condition_filter(
    "home", _("home"), here=(_("This server"), Q(local=True)), elsewhere=(_("Other servers"), Q(local=False))
)


# Staff may not filter for private and direct posts.
VisibilityFilter = condition_filter(
    "visibility",
    _("visibility"),
    **{value.value: (VISIBILITIES[value], Q(visibility=value)) for value in OPEN_VISIBILITIES},
)
_MEDIA_CONDITION = Q(pk__in=MediaAttachment.objects.filter(status__isnull=False).values("status"))
MediaFilter = condition_filter("media", _("pictures"), **{"with": (_("With pictures"), _MEDIA_CONDITION)})


def words_of(status: Status) -> str:
    """Return a post as text: its content warning and its text, or the descriptions of its pictures when it has neither."""
    parts = [f"[{text}]" for name in READ_COLUMNS if (text := getattr(status, name))]
    text = plain(status.content)
    if text:
        parts.append(text)
    elif not parts:
        parts = [media.description for media in status.media.all() if media.description]
    return " ".join(parts) or gettext("(no text)")


def _page(status: Status) -> Any:
    url = links.status_url(status.account.username, status.id) if status.local else status.url or status.uri
    return link(url, url) if url else None


def files_shown(files: Iterable[MediaAttachment]) -> Any:
    """Return the HTML that shows stored pictures and lists other files by description and address."""
    # Viewing the page must not cause a request to the file's server (docs/adr/0021).
    found = []
    for media in files:
        seen = media.preview or (media.file if media.type == MediaType.IMAGE else "")
        if seen:
            address, words = storage.url(media.file or seen), media.description or gettext("Picture")
            shot = '<a href="{}"><img class="shot" src="{}" alt="{}"></a>'
            found.append(format_html(shot, address, storage.url(seen), words))
        elif media.file:
            words = media.description or gettext("An attached file")
            found.append(format_html('<a href="{}">{}</a>', storage.url(media.file), words))
        elif media.remote_url:
            found.append(_elsewhere(media, media.remote_url))
    return format_html_join(" ", "{}", ([each] for each in found))


def _elsewhere(media: MediaAttachment, url: str) -> Any:
    # A file without a local copy.
    kind = FILE_KINDS.get(media.type) or media.content_type or gettext("File")
    said = format_html(" <bdi>{}</bdi>", media.description) if media.description else ""
    shown = '<p class="words">{}:{} <a href="{}" dir="ltr" rel="noreferrer">{}</a></p>'
    return format_html(shown, kind, said, url, url)


def _parent(status: Status) -> Any:
    if status.in_reply_to_id is None:
        return None
    return row_link(Status, status.in_reply_to_id, str(status.in_reply_to_id))


def _earlier(status: Status) -> Any:
    versions = load_earlier_words([status.id]).get(status.id, []) if status.edited_at is not None else []
    return earlier_lines(versions)


def earlier_lines(versions: Sequence[tuple[datetime, str]]) -> Any:
    """Return the HTML of a post's earlier versions, each with the time from which it applied; None when there are no earlier
    versions.
    """
    rows = [(date_format(localtime(moment), "DATETIME_FORMAT"), words) for moment, words in versions]
    return format_html_join("", '<p dir="auto"><small>{}</small> {}</p>', rows) or None


def _figure(name: str) -> Any:
    return lambda status: getattr(getattr(status, "stat", None), name, 0)


POST = shown("words", _("Post"), lambda status: shortened(words_of(status), EXCERPT))
AUTHOR = shown("author", _("Author"), lambda status: account_link(status.account))
PICTURES = shown("pictures", _("Pictures"), lambda status: len(status.media.all()) or None, minor=True)
VISIBILITY = shown(
    "visibility", _("Visibility"), lambda post: VISIBILITIES.get(post.visibility, post.visibility), minor=True
)
POSTED = shown("created_at", _("Posted"), order="id", minor=True)


@admin.register(Status)
class StatusAdmin(ActingAdmin):
    """Public and unlisted posts. Private and direct posts are shown to staff only with a report about them."""

    person_column = "account_id"
    list_display = (POST, AUTHOR, PICTURES, VISIBILITY, POSTED)
    list_filter = (HomeFilter, VisibilityFilter, MediaFilter)
    search_fields = ("text",)
    search_help_text = _(
        "An author (@anna, @anna@there.example), a post's address, or words; only the newest 20,000 "
        "posts are searched for words"
    )
    acts = (
        Act(
            "remove",
            _("Delete the selected posts"),
            lambda by, status: remove_status(by=by, status=status),
            permission=Permission.MANAGE_REPORTS,
            verb="delete",
            many=Words(
                _("Delete these posts? This cannot be undone."),
                ngettext_lazy("%(count)d post was deleted.", "%(count)d posts were deleted.", "count"),
            ),
            recorded="destroy",
            audit=_("%(by)s deleted a post of %(target)s"),
        ),
    )
    fieldsets = (
        lines(
            None,
            AUTHOR,
            shown("page", _("Page"), _page),
            *(shown(name, title) for name, title in READ_COLUMNS.items()),
            shown(
                "content",
                _("Text"),
                lambda status: format_html('<div class="words text" dir="auto">{}</div>', plain(status.content)),
            ),
            shown("earlier", _("Earlier versions"), _earlier),
            shown("media", _("Pictures"), lambda status: files_shown(status.media.all())),
            shown("sensitive", _("Pictures are sensitive")),
        ),
        lines(
            _("Details"),
            VISIBILITY,
            shown("language", _("Language")),
            POSTED,
            shown("edited_at", _("Edited")),
            shown("in_reply_to", _("In reply to"), _parent),
            shown("application", _("App"), lambda status: getattr(status.application, "name", None)),
            shown("replies", _("Replies"), _figure("replies_count")),
            shown("reblogs", _("Boosts"), _figure("reblogs_count")),
            shown("favourites", _("Favourites"), _figure("favourites_count")),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Status]:
        rows: QuerySet[Status] = super().get_queryset(request)
        rows = rows.filter(visibility__in=OPEN_VISIBILITIES, deleted_at=None, reblog_of=None)
        return rows.select_related("account", "application", "stat").prefetch_related("media")

    def find_rows(self, rows: QuerySet[Status], term: str) -> QuerySet[Status]:
        """Find posts by author (`@`), by address or id, or else by words."""
        address = _ID_IN_ADDRESS.match(term)
        # A short number is searched as a word, because ids contain the time and are never short.
        number = parse_id(address[1]) if address else parse_id(term) if len(term) >= ID_LENGTH else None
        if number is not None or "://" in term:
            return rows.filter(Q(id=number) | Q(url=term) | Q(uri=term))
        pair = split_address(term) if term.startswith("@") else None
        if pair is not None:
            return rows.filter(account__in=Account.objects.filter(has_address(*pair)).values("id"))
        words = ((f"{name}__icontains", term) for name in ("content", *READ_COLUMNS))
        return newest(rows, POSTS_SEARCHED).filter(Q(*words, _connector=Q.OR))

    def name_of(self, row: Status) -> str:
        """Return a name for a post: its author, and the beginning of its text."""
        return f"@{row.account.acct}: {words_of(row)[:EXCERPT]}"
