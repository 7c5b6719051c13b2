"""Navigation of signed-in people: the pages to which every page links, and the current page.

A page appears as soon as an app has a URL with its name; `docs/architecture.md` describes how to add a page.
"""

from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from social.pages.frame import url_of


@dataclass(frozen=True)
class Entry:
    """Page of the navigation: the name of its URL, its title and its icon (a class of `member.css`).

    `steps` are the URL names of pages below it. A `main` entry is always visible, even on phones. A `passing` entry is shown
    only if its page has a count or is the current page.
    """

    url_name: str
    title: str | Promise
    icon: str
    steps: tuple[str, ...] = ()
    main: bool = False
    passing: bool = False


ENTRIES: Final = (
    Entry("home", pgettext_lazy("page with the posts of those whom somebody follows", "Home"), "home", main=True),
    Entry(
        "notifications",
        _("Notifications"),
        "bell",
        ("follow_requests", "notification_requests", "notification_policy"),
        main=True,
    ),
    Entry("write", _("Write"), "pen", main=True),
    Entry("search", _("Search"), "search", main=True),
    Entry("explore", _("Explore"), "compass", ("public_timeline", "tag"), main=True),
    Entry("conversations", _("Conversations"), "letters"),
    Entry("bookmarks", _("Bookmarks"), "bookmark"),
    Entry("favourites", _("Favourites"), "star"),
    Entry("lists", _("Lists"), "list", ("list", "edit_list", "delete_list")),
    Entry(
        "collections",
        _("Collections"),
        "group",
        ("collection", "edit_collection", "delete_collection", "person_collections"),
    ),
    Entry("followed_tags", _("Followed hashtags"), "hash"),
    Entry("drafts", _("Drafts"), "draft"),
    Entry("scheduled", _("Scheduled posts"), "clock"),
    Entry("announcements", _("Announcements"), "horn", passing=True),
    Entry("interaction_requests", _("Requests"), "hand", passing=True),
    Entry("mutes", _("Muted and blocked"), "shield", ("blocks", "domain_blocks")),
    Entry(
        "filters", _("Filters"), "funnel", ("new_filter", "edit_filter", "filter_posts", "delete_filter", "filter_post")
    ),
    Entry("settings_index", _("Settings"), "gear"),
)


_CURRENT_PAGE: Final = SafeString(' aria-current="page"')
_CURRENT_PLACE: Final = SafeString(' aria-current="true"')


def entries(current: str, counts: dict[str, str]) -> list[dict[str, Any]]:
    """Return the entries whose pages exist. `current` is the URL name of the current page; `counts` maps URL names to the
    counts that their entries show, as text.
    """
    return [
        {
            "title": entry.title,
            "icon": entry.icon,
            "url": url,
            "main": entry.main,
            "current": current == entry.url_name,
            "within": current in entry.steps,
            "state": _CURRENT_PAGE if current == entry.url_name else _CURRENT_PLACE if current in entry.steps else "",
            "count": counts.get(entry.url_name, ""),
        }
        for entry in ENTRIES
        if (not entry.passing or counts.get(entry.url_name) or current == entry.url_name)
        and (url := url_of(entry.url_name))
    ]
