"""Lists an account's posts, scheduled posts, favourites and bookmarks, and who favourited, boosted or quoted a post."""

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Prefetch, Q, QuerySet

from accounts.policies.audience import is_present
from accounts.policies.relations import hidden_from
from social.kernel.cursors import Cursor
from social.kernel.errors import require_found
from social.kernel.ids import parse_id
from social.kernel.statements import rows_of
from social.kernel.text.names import normalise_hashtag
from statuses.models import Bookmark, Favourite, Quote, QuoteState, ScheduledMedia, ScheduledStatus, Status
from statuses.policies.audience import PROFILE, readable_by_viewer, visible_to
from statuses.policies.publishing import DRAFTS_FROM
from statuses.policies.visibility import ADDRESSED_POST, OPEN_VISIBILITIES
from statuses.queries.page import PostPage, select

_ROUNDS: Final = 8


@dataclass(frozen=True)
class AccountStatusesFilter:
    """Filter for an account's posts (contract, parameters section 2 "Reading accounts")."""

    only_media: bool = False
    exclude_replies: bool = False
    exclude_reblogs: bool = False
    exclude_direct: bool = False
    pinned: bool = False
    tagged: str | None = None


# Preselects posts, so that few rows are read unnecessarily; `can_see` then decides about each post. With COALESCE the planner
# expects half of the posts to match; if it expects only a few, it reads and sorts all posts of the account.
_CANDIDATES: Final = "SELECT s.id FROM statuses_status s WHERE s.account_id = %(author)s AND COALESCE({}, FALSE)"
_READABLE: Final = readable_by_viewer("%(author)s")
_CONDITIONS: Final = {
    # A scalar subquery instead of EXISTS, because with EXISTS the planner may decide to read the attachments of all posts.
    "only_media": " AND (SELECT TRUE FROM statuses_mediaattachment f WHERE f.status_id = s.id LIMIT 1)",
    "exclude_replies": " AND ((s.in_reply_to_id IS NULL AND s.in_reply_to_uri IS NULL AND s.in_reply_to_account_id IS NULL)"
    " OR s.in_reply_to_account_id = s.account_id)",
    "exclude_reblogs": " AND s.reblog_of_id IS NULL",
    "exclude_direct": f" AND NOT {ADDRESSED_POST}",
}
# There are at most `statuses.services.pins.PINS_LIMIT` pinned posts, so they are always read completely.
_PINNED: Final = " AND EXISTS (SELECT 1 FROM statuses_pin p WHERE p.status_id = s.id AND p.account_id = %(author)s)"
_PIN_ORDER: Final = " ORDER BY (SELECT p.id FROM statuses_pin p WHERE p.status_id = s.id) DESC LIMIT %(limit)s"
# Posts of an account with a hashtag are searched for among its posts or among the posts with the hashtag, whichever are fewer;
# if there are many of both, the two lists are intersected. The planner cannot choose, because it has one plan for all
# parameters.
_WALK_LIMIT: Final = 2000
_TAG_SIZES: Final = f"""
SELECT t.id, (SELECT count(*) FROM (SELECT 1 FROM statuses_status WHERE account_id = %(author)s LIMIT {_WALK_LIMIT}) own),
       (SELECT count(*) FROM (SELECT 1 FROM statuses_statustag WHERE tag_id = t.id LIMIT {_WALK_LIMIT}) tagged)
  FROM accounts_tag t WHERE t.name = %(tag)s
"""  # noqa: S608 (constants)
_OWN_CONDITION: Final = " AND (SELECT TRUE FROM statuses_statustag h WHERE h.status_id = s.id AND h.tag_id = %(tag)s)"
_TAGGED_CONDITION: Final = " AND s.id = ANY(ARRAY(SELECT status_id FROM statuses_statustag WHERE tag_id = %(tag)s))"
_INTERSECTION: Final = (
    " AND s.id = ANY(ARRAY(SELECT id FROM statuses_status WHERE account_id = %(author)s"
    " INTERSECT SELECT status_id FROM statuses_statustag WHERE tag_id = %(tag)s))"
)


def load_account_statuses(
    account_id: int, viewer_id: int | None, post_filter: AccountStatusesFilter, cursor: Cursor
) -> PostPage:
    """Return a page of an account's posts that the viewer may read, newest first (behaviours section 11).

    Boosts of accounts that the viewer blocks or mutes are left out. No posts are returned if the account is unknown or
    suspended, or blocks the viewer. The page is full unless hundreds of consecutive posts are hidden. Pinned posts come in the
    order of their pins. Three queries, one more for a hashtag; the caller has to `fill` the page.
    """
    page = select([], viewer_id)
    sql, parameters = _list_sql(account_id, viewer_id, post_filter)
    if post_filter.pinned:
        bounded = sql + _PINNED + cursor.between("s.id") + _PIN_ORDER
        page.extend(select(_ids(bounded, parameters | cursor.parameters), viewer_id, PROFILE.shows))
        return page
    for _round in range(_ROUNDS):
        ids = _ids(sql + cursor.ordered("s.id"), parameters | cursor.parameters)
        page.extend(select(ids, viewer_id, PROFILE.shows))
        if len(ids) < cursor.limit or len(page.rows) >= cursor.limit:
            break
        cursor = cursor.behind(ids[-1])
    page.rows = cursor.newest_first(page.rows[: cursor.limit])
    return page


def _list_sql(author_id: int, viewer_id: int | None, post_filter: AccountStatusesFilter) -> tuple[str, dict[str, Any]]:
    # No account has the id 0, so an anonymous viewer follows nobody and is mentioned nowhere.
    parameters: dict[str, Any] = {"author": author_id, "viewer": viewer_id or 0}
    conditions = (condition for name, condition in _CONDITIONS.items() if getattr(post_filter, name))
    sql = _CANDIDATES.format("".join([_READABLE, *conditions]))
    if post_filter.tagged:
        sizes = rows_of(_TAG_SIZES, {"author": author_id, "tag": normalise_hashtag(post_filter.tagged)})
        parameters["tag"], own, tagged = sizes[0] if sizes else (0, 0, 0)
        sql += _OWN_CONDITION if 0 < own < _WALK_LIMIT else _TAGGED_CONDITION if tagged < _WALK_LIMIT else _INTERSECTION
    return sql, parameters


def _ids(sql: str, parameters: dict[str, Any]) -> list[int]:
    return [row[0] for row in rows_of(sql, parameters)]


def list_favourites(account_id: int) -> QuerySet[Favourite]:
    """Select the account's favourites of posts that the account may still read, unordered."""
    return Favourite.objects.filter(visible_to(account_id, prefix="status__"), account_id=account_id)


def list_bookmarks(account_id: int) -> QuerySet[Bookmark]:
    """Select the account's bookmarks of posts that the account may still read, unordered."""
    return Bookmark.objects.filter(visible_to(account_id, prefix="status__"), account_id=account_id)


def list_favourites_of(status_id: int, viewer_id: int | None) -> QuerySet[Favourite]:
    """Select the favourites of a post by accounts that the viewer may see, unordered."""
    return Favourite.objects.filter(_shown_to(viewer_id), status_id=status_id)


def list_reblogs_of(status_id: int, viewer_id: int | None) -> QuerySet[Status]:
    """Select the public and unlisted boosts of a post by accounts that the viewer may see, unordered."""
    return Status.objects.filter(
        _shown_to(viewer_id), reblog_of_id=status_id, deleted_at=None, visibility__in=OPEN_VISIBILITIES
    )


def list_quotes_of(status_id: int, viewer_id: int | None) -> QuerySet[Quote]:
    """Select the accepted quotes of a post whose quoting posts the viewer may read, unordered."""
    readable = visible_to(viewer_id, prefix="status__")
    return Quote.objects.filter(readable, quoted_status_id=status_id, state=QuoteState.ACCEPTED)


def _shown_to(viewer_id: int | None) -> Q:
    """Return the condition for accounts in lists: the account is not suspended, and is not hidden from the viewer by a block or
    mute.
    """
    condition = is_present("account")
    return condition if viewer_id is None else condition & ~hidden_from(viewer_id, "account_id")


def list_scheduled(account_id: int) -> QuerySet[ScheduledStatus]:
    """Select the account's scheduled posts with everything their entities need, in no particular order. Needs two queries."""
    files = ScheduledMedia.objects.select_related("media").order_by("position")
    return ScheduledStatus.objects.filter(account_id=account_id).prefetch_related(Prefetch("media", files))


def list_drafts(account_id: int) -> QuerySet[ScheduledStatus]:
    """Select the account's drafts with everything their entities need, unordered, except drafts held for review by staff."""
    return list_scheduled(account_id).filter(scheduled_at__gte=DRAFTS_FROM, held=None)


def find_draft(draft_id: Any, account_id: int) -> ScheduledStatus:
    """Return the account's own draft. Raises NotFound for other drafts, and for a scheduled post that is not a draft."""
    return require_found(list_drafts(account_id).filter(id=parse_id(draft_id) or 0).first())


def find_scheduled(scheduled_id: Any, account_id: int) -> ScheduledStatus:
    """Return the account's own scheduled post. Raises NotFound for another account's scheduled post."""
    return require_found(list_scheduled(account_id).filter(id=parse_id(scheduled_id) or 0).first())
