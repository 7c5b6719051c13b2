"""Reads notifications, with all data of their entities, in a fixed number of queries."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from accounts.collections.queries import ShownCollection, load_shown
from accounts.models import Account, SeveredAccount
from accounts.policies.audience import PRESENT
from accounts.queries.accounts import CountedAccounts, load_accounts, load_counted_accounts
from accounts.queries.networks import load_severances
from moderation.models import Appeal, Report, Strike
from moderation.queries.reports import load_appeals, load_reports, load_strikes
from notifications.models import AnnualReport, NotificationType
from notifications.policies.fallbacks import needs_fallback
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.statements import rows_of
from statuses.queries.page import PostPage, hydrate
from timelines.models import Timeline
from timelines.queries.lists import load_markers

COLUMNS: Final = """
n.id, n.type, n.created_at, n.from_account_id, n.status_id, n.report_id, n.strike_id, n.severed_id, n.collection_id,
n.annual_report_id, n.group_key, n.filtered
"""
"""The columns of a ListedNotification, from a table aliased `n`."""

SHOWN_CONDITION: Final = f"""
n.account_id = %(account)s
AND {PRESENT.sql("n.from_account_id", has_viewer=False)}
AND (n.status_id IS NULL OR (SELECT s.deleted_at IS NULL FROM statuses_status s WHERE s.id = n.status_id))
"""  # noqa: S608 (constants)
"""Condition: notifications of one account, but not from suspended senders and not about deleted posts."""

_SELECT: Final = f"SELECT {COLUMNS} FROM notifications_notification n"  # noqa: S608 (constants)
_SHOWN_ROWS: Final = f"{_SELECT} WHERE {SHOWN_CONDITION}"
UNGROUPED: Final = "ungrouped-"
"""Prefix of the keys of single notifications."""

UNFILTERED: Final = "NOT n.filtered"
"""Condition: notifications of all types, except filtered notifications."""

_TYPES: Final = tuple(NotificationType.values)


@dataclass(slots=True)
class ListedNotification:
    """The columns of a notification that lists need; creating a model instance would take five times as long."""

    id: int
    type: str
    created_at: datetime
    from_account_id: int
    status_id: int | None
    report_id: int | None
    strike_id: int | None
    severed_id: int | None
    collection_id: int | None
    annual_report_id: int | None
    group_key: str | None
    filtered: bool
    others: int = 0

    @property
    def key(self) -> str:
        """Return the key of the notification's group, or a key for this notification alone if it belongs to no group."""
        return self.group_key or f"{UNGROUPED}{self.id}"


@dataclass(frozen=True, slots=True)
class NotificationFilter:
    """Conditions on notifications. Filtered notifications of a chosen sender are included (SEED-071; behaviours section 13)."""

    types: Collection[str] = ()
    exclude_types: Collection[str] = ()
    from_account_id: int | None = None
    include_filtered: bool = False

    @property
    def chosen_types(self) -> list[str]:
        """Return the existing types that the filter selects."""
        return [type for type in _TYPES if (not self.types or type in self.types) and type not in self.exclude_types]

    def parameters(self, account_id: int) -> dict[str, Any]:
        """Return the parameters of `parts` and of SHOWN_CONDITION."""
        return {"account": account_id, "types": self.chosen_types, "sender": self.from_account_id}

    def parts(self) -> list[str]:
        """Return conditions; a notification is selected if one of them is true. Each condition has an index in the order of the
        list; therefore the query reads at most one page per condition.
        """
        types = self.chosen_types
        has_type = "TRUE" if len(types) == len(_TYPES) else "n.type = ANY(%(types)s)"
        if self.from_account_id is not None:
            return [f"n.from_account_id = %(sender)s AND {has_type}"] if types else []
        if has_type == "TRUE":
            parts = [UNFILTERED]
        else:
            # The number of conditions is rounded up to a power of two, so that there are few different statements. Array
            # elements that are missing are NULL, which equals no type.
            places = 1 << (len(types) - 1).bit_length() if types else 0
            parts = [f"NOT n.filtered AND n.type = (%(types)s::text[])[{place + 1}]" for place in range(places)]
        return [*parts, f"n.filtered AND {has_type}"] if parts and self.include_filtered else parts


def list_notifications(account_id: int, row_filter: NotificationFilter, cursor: Cursor) -> list[ListedNotification]:
    """Return the notifications of an account at a cursor, newest first. One query."""
    parts = [f"{_SHOWN_ROWS} AND {part}{cursor.ordered('n.id')}" for part in row_filter.parts()]
    if not parts:
        return []
    sql = parts[0]
    if len(parts) > 1:
        together = ") UNION ALL (".join(parts)
        sql = f"SELECT * FROM (({together})) n ORDER BY id {cursor.direction} LIMIT %(limit)s"  # noqa: S608 (constants)
    return cursor.newest_first(_rows(sql, {**row_filter.parameters(account_id), **cursor.parameters}))


def unread_cursor(account_id: int, limit: int) -> Cursor:
    """Return the cursor of the notifications newer than the account's marker. One query."""
    markers = {marker.timeline: marker.last_read_id for marker in load_markers(account_id, [Timeline.NOTIFICATIONS])}
    return Cursor(limit, after=markers.get(Timeline.NOTIFICATIONS))


def count_unread(account_id: int, row_filter: NotificationFilter, limit: int) -> int:
    """Return the number of an account's notifications newer than its marker, up to `limit`. Two queries."""
    return len(list_notifications(account_id, row_filter, unread_cursor(account_id, limit))) if limit else 0


def find_notification(account_id: int, notification_id: int) -> ListedNotification:
    """Return the account's notification with this id. Raises NotFound."""
    for row in _rows(f"{_SHOWN_ROWS} AND n.id = %(id)s", {"account": account_id, "id": notification_id}):
        return row
    raise NotFound


def load_notifications(notification_ids: Collection[int]) -> list[ListedNotification]:
    """Return these notifications, except filtered notifications, oldest first."""
    return _rows(
        f"{_SELECT} WHERE n.id = ANY((SELECT %(ids)s)::bigint[]) AND NOT n.filtered ORDER BY n.id",
        {"ids": list(notification_ids)},
    )


def _rows(sql: str, parameters: dict[str, Any]) -> list[ListedNotification]:
    return [
        ListedNotification(*values) for values in rows_of(sql, parameters)
    ]  # the columns are in the order of the fields


@dataclass(frozen=True)
class Subjects:
    """Rows other than posts that notifications are about, by id. `appeals` are by strike, `years` by annual report."""

    reports: Mapping[int, Report]
    strikes: Mapping[int, Strike]
    appeals: Mapping[int, Appeal]
    severances: Mapping[int, SeveredAccount]
    collections: Mapping[int, ShownCollection]
    years: Mapping[int, int]

    @property
    def people(self) -> set[int]:
        """Return the ids of the accounts that the entities of these rows contain."""
        reported = {report.target_account_id for report in self.reports.values()}
        return reported | {strike.target_account_id for strike in self.strikes.values()}

    def has(self, row: ListedNotification) -> bool:
        """Tell whether everything that the notification is about still exists."""
        pairs: tuple[tuple[int | None, Mapping[int, Any]], ...] = (
            (row.report_id, self.reports),
            (row.strike_id, self.strikes),
            (row.severed_id, self.severances),
            (row.collection_id, self.collections),
            (row.annual_report_id, self.years),
        )
        return all(number is None or number in loaded for number, loaded in pairs)


def load_subjects(rows: Sequence[ListedNotification], viewer_id: int) -> Subjects:
    """Return the subjects of these rows, as the viewer sees them. Only tables to which the rows refer are read: three queries
    for collections, two for strikes, one for each other table.
    """
    strikes = load_strikes({row.strike_id for row in rows if row.strike_id is not None})
    years = {row.annual_report_id for row in rows if row.annual_report_id is not None}
    return Subjects(
        reports=load_reports({row.report_id for row in rows if row.report_id is not None}),
        strikes=strikes,
        appeals=load_appeals(strikes.keys()),
        severances=load_severances({row.severed_id for row in rows if row.severed_id is not None}),
        collections=load_shown({row.collection_id for row in rows if row.collection_id is not None}, viewer_id),
        years=dict(AnnualReport.objects.filter(id__one_of=list(years)).values_list("id", "year")) if years else {},
    )


@dataclass(frozen=True)
class NotificationPage:
    """Rows with their senders, the posts that the recipient may read, and their other subjects."""

    rows: Sequence[ListedNotification]
    accounts: CountedAccounts
    statuses: PostPage
    subjects: Subjects
    supported: Collection[str] | None
    named: Mapping[int, Account]


def load_named(
    rows: Sequence[ListedNotification], subjects: Subjects, supported: Collection[str] | None
) -> dict[int, Account]:
    """Return the accounts that are named in the fallback texts of these notifications, by id, for a client that knows only the
    types in `supported`. No query if there are no fallback texts.
    """
    ids: set[int] = set()
    for row in rows:
        if needs_fallback(row.type, supported):
            ids.add(row.from_account_id)
            report = subjects.reports.get(row.report_id or 0)
            if report is not None:
                ids.add(report.target_account_id)
    return load_accounts(ids)


def load_page(
    rows: Sequence[ListedNotification], viewer_id: int, supported: Collection[str] | None = None
) -> NotificationPage:
    """Return the data of the entities of these rows: at most eight queries for any number of rows, plus the queries of
    `load_subjects`, and one more for fallbacks (`load_named`).
    """
    subjects = load_subjects(rows, viewer_id)
    accounts = load_counted_accounts({row.from_account_id for row in rows} | subjects.people, viewer_id)
    statuses = hydrate(dict.fromkeys(row.status_id for row in rows if row.status_id is not None), viewer_id)
    named = load_named(rows, subjects, supported)
    return NotificationPage(rows, accounts, statuses, subjects, supported, named)
