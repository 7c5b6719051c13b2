"""Reads lists around accounts and posts: what somebody wrote, who likes it, who passed it on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q, QuerySet

from accounts.policies.relations import NOBODY, Relations, hidden_from
from social.kernel.cursors import Cursor
from social.kernel.statements import fetch
from social.kernel.text.names import normalise_hashtag
from statuses.models import Bookmark, Favourite, Quote, QuoteState, Status
from statuses.policies.visibility import FOR_ADDRESSED_ONLY, FOR_ANYBODY, readable_by_viewer, visible_to
from statuses.queries.page import Page, select
from statuses.queries.rows import Row

_ROUNDS: Final = 8


@dataclass(frozen=True)
class AccountStatusesFilter:
    """What of an account's posts is wanted (contract, parameters section 2 "Reading accounts")."""

    only_media: bool = False
    exclude_replies: bool = False
    exclude_reblogs: bool = False
    exclude_direct: bool = False
    pinned: bool = False
    tagged: str | None = None


# A first choice, so that few rows are read in vain: who may read what is decided by `can_see`, on the rows.
_CANDIDATES: Final = f"""
SELECT s.id FROM statuses_status s WHERE s.account_id = %(author)s AND {readable_by_viewer("%(author)s")}
"""  # noqa: S608 (constants)
_NARROWER: Final = {
    "only_media": " AND EXISTS (SELECT 1 FROM statuses_mediaattachment f WHERE f.status_id = s.id)",
    "exclude_replies": " AND ((s.in_reply_to_id IS NULL AND s.in_reply_to_uri IS NULL AND s.in_reply_to_account_id IS NULL)"
    " OR s.in_reply_to_account_id = s.account_id)",
    "exclude_reblogs": " AND s.reblog_of_id IS NULL",
    "exclude_direct": f" AND NOT {FOR_ADDRESSED_ONLY}",
}
# At most `statuses.services.pinning.MOST` are, so they are always read whole.
_PINNED: Final = " AND EXISTS (SELECT 1 FROM statuses_pin p WHERE p.status_id = s.id AND p.account_id = %(author)s)"
_NEWEST_PIN_FIRST: Final = " ORDER BY (SELECT p.id FROM statuses_pin p WHERE p.status_id = s.id) DESC LIMIT %(limit)s"
_TAGGED: Final = (
    " AND EXISTS (SELECT 1 FROM statuses_statustag h JOIN accounts_tag t ON t.id = h.tag_id"
    " WHERE h.status_id = s.id AND t.name = %(tag)s)"
)


def load_account_statuses(
    account_id: int, viewer_id: int | None, wanted: AccountStatusesFilter, cursor: Cursor
) -> Page:
    """An account's posts at a cursor, newest first, as far as the viewer may read them (behaviours section 11).

    Boosts of accounts the viewer blocks or mutes are left out; an account that is suspended, unknown or blocks the
    viewer has none. A full page unless there are no more, or hundreds in a row are hidden; pinned ones in the order of
    their pins, newest first. Three queries as a rule, not filled.
    """
    page = select([], viewer_id)
    sql, parameters = _narrowed(account_id, viewer_id, wanted)
    if wanted.pinned:
        bounded = sql + _PINNED + cursor.between("s.id") + _NEWEST_PIN_FIRST
        page.extend(select(_ids(bounded, parameters | cursor.parameters), viewer_id, _shows_boost))
        return page
    for _round in range(_ROUNDS):
        ids = _ids(sql + cursor.ordered("s.id"), parameters | cursor.parameters)
        page.extend(select(ids, viewer_id, _shows_boost))
        if len(ids) < cursor.limit or len(page.rows) >= cursor.limit:
            break
        cursor = cursor.behind(ids[-1])
    page.rows = cursor.newest_first(page.rows[: cursor.limit])
    return page


def _narrowed(author_id: int, viewer_id: int | None, wanted: AccountStatusesFilter) -> tuple[str, dict[str, Any]]:
    # No account has the id 0: anybody follows nobody and is mentioned nowhere.
    parameters: dict[str, Any] = {"author": author_id, "viewer": viewer_id or 0}
    sql = _CANDIDATES + "".join(condition for name, condition in _NARROWER.items() if getattr(wanted, name))
    if wanted.tagged:
        parameters["tag"] = normalise_hashtag(wanted.tagged)
        sql += _TAGGED
    return sql, parameters


def _ids(sql: str, parameters: dict[str, Any]) -> list[int]:
    return [row[0] for row in fetch(sql, parameters)]


def _shows_boost(row: Row, relations: Relations) -> bool:
    if row.original is None or relations is NOBODY or row.original.account_id == relations.viewer_id:
        return True
    return not relations.hides(row.original.account_id)


def list_favourites(account_id: int) -> QuerySet[Favourite]:
    """The likes of an account on posts that it may still read, unordered."""
    return Favourite.objects.filter(visible_to(account_id, prefix="status__"), account_id=account_id)


def list_bookmarks(account_id: int) -> QuerySet[Bookmark]:
    """The bookmarks of an account on posts that it may still read, unordered."""
    return Bookmark.objects.filter(visible_to(account_id, prefix="status__"), account_id=account_id)


def list_favourites_of(status_id: int, viewer_id: int | None) -> QuerySet[Favourite]:
    """Who likes a post, as far as the viewer may be shown them: favourites, unordered."""
    return Favourite.objects.filter(_shown_to(viewer_id), status_id=status_id)


def list_reblogs_of(status_id: int, viewer_id: int | None) -> QuerySet[Status]:
    """Who has boosted a post for everybody to see, as far as the viewer may be shown them: boosts, unordered."""
    return Status.objects.filter(
        _shown_to(viewer_id), reblog_of_id=status_id, deleted_at=None, visibility__in=FOR_ANYBODY
    )


def list_quotes_of(status_id: int, viewer_id: int | None) -> QuerySet[Quote]:
    """The accepted quotes of a post in posts that the viewer may read, unordered."""
    readable = visible_to(viewer_id, prefix="status__")
    return Quote.objects.filter(readable, quoted_status_id=status_id, state=QuoteState.ACCEPTED)


def _shown_to(viewer_id: int | None) -> Q:
    """Accounts that a list of people shows: not suspended, and nothing hides them and the viewer from each other."""
    shown = Q(account__suspended_at=None)
    return shown if viewer_id is None else shown & ~hidden_from(viewer_id, "account_id")
