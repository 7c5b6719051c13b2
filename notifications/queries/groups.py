"""Reads notifications in groups. The notifications of a group have one type, are from the same twelve hours, and are about the
same post if the type concerns posts (contract, behaviours section 13 "Grouping").
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from django.db.models.expressions import RawSQL

from accounts.models import Account
from accounts.policies.audience import PRESENT
from accounts.queries.accounts import CountedAccounts, load_accounts, load_counted_accounts
from notifications.policies.outcomes import RULES
from notifications.queries import listing
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.ids import MAX_ID, parse_id
from social.kernel.statements import rows_of
from statuses.queries.page import PostPage, hydrate
from timelines.models import Timeline

GROUPED_TYPES: Final = tuple(str(type) for type, rule in RULES.items() if rule.grouped)
"""The types that are grouped unless the client names other types."""

SAMPLE_SIZE: Final = 8
"""Maximum number of accounts that a group shows; further accounts are listed on separate pages."""

COUNT_LIMIT: Final = 10_000
"""Maximum number of a group's notifications that are counted, because a group may be huge, and each sender must be checked."""

STRETCHES: Final = (1_000, 100_000)
"""Limits on the number of notifications that are searched for the groups of a page. The larger limit is used only if the
smaller limit yields too few groups.
"""

# Each step of the recursion finds the next notification of a group that is not on the page yet, without reading a row twice.
# The first notification is found however old it is, because clients take an empty page as the end of the list; further
# notifications are found only within the limit (STRETCHES), because a page may be short.
_HEADS: Final = """
WITH RECURSIVE stop (id) AS MATERIALIZED (
  {stop}
), page (place, id, stop, seen) AS (
  SELECT 0, %(start)s::bigint, {end}::bigint, ARRAY[]::text[]
   UNION ALL
  SELECT page.place + 1, found.id, COALESCE((SELECT id FROM stop), {end}),
         CASE WHEN found.group_key IS NULL THEN page.seen ELSE page.seen || found.group_key END
    FROM page, LATERAL (
         SELECT * FROM ({parts}) f ORDER BY id {direction} LIMIT 1) found
   WHERE page.place < %(limit)s)
SELECT (SELECT id FROM stop), {columns}
  FROM page JOIN notifications_notification n ON n.id = page.id
 WHERE page.place > 0
 ORDER BY n.id DESC
"""
_HEAD: Final = """
(SELECT n.id, CASE WHEN n.type = ANY(%(grouped)s::text[]) THEN n.group_key END AS group_key
   FROM notifications_notification n
  WHERE {shown} AND {part} AND n.id {beyond} page.id{bound} AND n.id {before}= page.stop
    AND (n.group_key IS NULL OR n.type <> ALL(%(grouped)s::text[]) OR n.group_key <> ALL(page.seen))
  ORDER BY n.id {direction} LIMIT 1)
"""
# The condition has BETWEEN, because with `=` the planner drops the account from the sort order, and uses the primary key
# instead of the index of the list.
_STOP: Final = """
SELECT n.id FROM notifications_notification n
 WHERE n.account_id BETWEEN %(account)s AND %(account)s AND {part} AND n.id {beyond} %(start)s{bound}
 ORDER BY n.account_id {opposite}, n.id {direction} LIMIT 1 OFFSET {stretch} - 1
"""
# There is no limit (STRETCHES) if the client chooses types, because PostgreSQL might scan all notifications to find the end of
# the range for a rare type.
_NO_STOP: Final = "SELECT NULL::bigint"
# The rows are read first, without the condition on shown rows, so that the cost of a group does not depend on its size.
_COUNT: Final = """
WITH unread AS MATERIALIZED ({rows}), groups AS (
  SELECT CASE WHEN type = ANY(%(grouped)s::text[]) THEN group_key END AS key, max(id) AS newest, min(id) AS oldest
    FROM unread GROUP BY 1, CASE WHEN group_key IS NULL OR type <> ALL(%(grouped)s::text[]) THEN id END)
SELECT (SELECT count(*) FROM unread), (SELECT count(*) FROM (
  SELECT 1 FROM groups g
   WHERE (SELECT {shown} FROM notifications_notification n WHERE n.id = g.newest)
      OR g.oldest < g.newest AND EXISTS (
         SELECT 1 FROM notifications_notification n
          WHERE {shown} AND ({any_part}) AND n.group_key = g.key AND n.id BETWEEN g.oldest AND g.newest)
   LIMIT %(limit)s) f)
"""
_UNREAD_ROWS: Final = """
(SELECT n.id, n.type, n.group_key FROM notifications_notification n
  WHERE {recipient} AND {part}{bound}
  ORDER BY {order}n.id DESC LIMIT %(stretch)s)
"""
_GROUP_CONDITION: Final = f"{listing.SHOWN_CONDITION} AND NOT n.filtered AND n.group_key = %(key)s"
# The query for the heads has already checked that the post exists; all notifications of a group are about the same post.
_KEY_CONDITION: Final = f"""
n.account_id = %(account)s AND n.group_key = k.key AND NOT n.filtered AND n.id <= %(highest)s
AND {PRESENT.sql("n.from_account_id", has_viewer=False)}
"""
_GROUPS: Final = f"""
SELECT k.key, g.*
  FROM unnest(%(keys)s::text[]) AS k (key)
 CROSS JOIN LATERAL (
       SELECT count(*), max(f.id), (array_agg(f.from_account_id))[1:{SAMPLE_SIZE}],
              CASE WHEN count(*) < {COUNT_LIMIT} THEN min(f.id) FILTER (WHERE f.id >= %(lowest)s) ELSE (
                SELECT n.id FROM notifications_notification n
                 WHERE {_KEY_CONDITION} AND n.id >= %(lowest)s ORDER BY n.id LIMIT 1) END,
              max(f.created_at) FILTER (WHERE f.id >= %(lowest)s)
         FROM (SELECT n.id, n.from_account_id, n.created_at FROM notifications_notification n
                WHERE {_KEY_CONDITION} ORDER BY n.id DESC LIMIT {COUNT_LIMIT}) f) g
"""  # noqa: S608 (constants)


@dataclass(frozen=True, slots=True)
class Span:
    """The notifications on a page, with ids from `lowest` to `highest`."""

    lowest: int = 0
    highest: int = MAX_ID


@dataclass(frozen=True, slots=True)
class Heads:
    """The first notification of each group on a page, newest first. `span` covers the page; it extends to the requested bound
    if no more notifications are on that side. `ends` are the lowest and the highest id: the adjacent pages begin below and
    above these ids.
    """

    rows: list[listing.ListedNotification] = field(default_factory=list)
    span: Span = Span()
    ends: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class NotificationGroup:
    """The notifications with the same key, except notifications newer than the page; `newest` is the newest notification.
    `count` is at most COUNT_LIMIT. `sample` holds the latest senders, newest first. `lowest_id` and `latest_at` are the lowest
    id and the latest time on the page.
    """

    newest: listing.ListedNotification
    key: str
    count: int
    most_recent_id: int
    sample: Sequence[int]
    lowest_id: int
    latest_at: datetime


@dataclass(frozen=True)
class GroupPage:
    """Groups with their accounts, posts and other subjects. `partial` are the accounts in short form; None: all are in full."""

    groups: Sequence[NotificationGroup]
    accounts: CountedAccounts
    partial: Mapping[int, Account] | None
    statuses: PostPage
    subjects: listing.Subjects
    supported: Collection[str] | None
    named: Mapping[int, Account]


def list_heads(
    account_id: int, row_filter: listing.NotificationFilter, grouped_types: Collection[str], cursor: Cursor
) -> Heads:
    """Return the first notification of each group at a cursor. Runs at most two queries, each over a limited number of
    notifications, so a page of all types may have fewer groups than requested.
    """
    parts, rising = row_filter.parts(), cursor.ascending
    if not parts:
        return Heads()
    start, other = (cursor.after, cursor.before) if rising else (cursor.before, cursor.after)
    beyond, before = (">", "<") if rising else ("<", ">")
    far = other if other is not None else MAX_ID + 1 if rising else -1
    words = {"shown": listing.SHOWN_CONDITION, "direction": cursor.direction, "beyond": beyond, "before": before}
    words["bound"] = "" if other is None else f" AND n.id {before} %({'before' if rising else 'after'})s"
    words |= {"end": str(MAX_ID), "opposite": "DESC"} if rising else {"end": "0", "opposite": "ASC"}
    parameters = {
        **cursor.parameters,
        "start": start if start is not None else 0 if rising else MAX_ID,
        **row_filter.parameters(account_id),
        "grouped": list(grouped_types),
    }
    rows: list[listing.ListedNotification] = []
    stop = None
    for stretch in STRETCHES:
        stop_sql = (
            _STOP.format(part=listing.UNFILTERED, stretch=stretch, **words)
            if parts[0] == listing.UNFILTERED
            else _NO_STOP
        )
        heads = " UNION ALL ".join(_HEAD.format(part=part, **words) for part in parts)
        head_rows = rows_of(_HEADS.format(stop=stop_sql, parts=heads, columns=listing.COLUMNS, **words), parameters)
        rows = [listing.ListedNotification(*values) for _stop, *values in head_rows]
        stop = head_rows[0][0] if head_rows and len(head_rows) < cursor.limit else None
        if stop is None:
            break
    if not rows:
        return Heads()
    lowest, highest = rows[-1].id, rows[0].id
    if stop is not None:
        lowest, highest = (lowest, max(stop, highest)) if rising else (min(stop, lowest), highest)
    span = Span(lowest, highest)
    if stop is None and len(rows) < cursor.limit:
        span = replace(span, **({"highest": far - 1} if rising else {"lowest": far + 1}))
    return Heads(rows, span, (lowest, highest))


def load_groups(
    account_id: int, heads: Sequence[listing.ListedNotification], grouped_types: Collection[str], span: Span
) -> list[NotificationGroup]:
    """Return the groups of these notifications, in the given order. One query."""
    grouped = [head for head in heads if head.group_key is not None and head.type in grouped_types]
    values_by_key = {}
    if grouped:
        keys = [head.key for head in grouped]
        bounds = {"account": account_id, "lowest": span.lowest, "highest": span.highest}
        values_by_key = {key: values for key, *values in rows_of(_GROUPS, {"keys": keys, **bounds}) if values[0]}
    groups = []
    for head in heads:
        count, newest_id, sample, lowest_id, latest_at = 1, head.id, [head.from_account_id], head.id, head.created_at
        key = f"{listing.UNGROUPED}{head.id}"
        if head.key in values_by_key and head.type in grouped_types:
            key = head.key
            count, newest_id, sample, lowest_id, latest_at = values_by_key[key]
        newest = replace(head, id=newest_id, from_account_id=sample[0], others=count - 1)
        groups.append(NotificationGroup(newest, key, count, newest_id, sample, lowest_id, latest_at))
    return groups


def find_group(account_id: int, key: str) -> NotificationGroup:
    """Return the account's group of notifications with this key. Raises NotFound."""
    if key.startswith(listing.UNGROUPED):
        head = listing.find_notification(account_id, parse_id(key.removeprefix(listing.UNGROUPED)) or 0)
        if head.group_key is not None:
            raise NotFound
    else:
        heads = list_of_group(account_id, key, Cursor(1))
        if not heads:
            raise NotFound
        head = heads[0]
    return load_groups(account_id, [head], GROUPED_TYPES, Span())[0]


def list_of_group(account_id: int, key: str, cursor: Cursor) -> list[listing.ListedNotification]:
    """Return the notifications of one group at a cursor, newest first. One query."""
    sql = f"SELECT {listing.COLUMNS} FROM notifications_notification n WHERE {_GROUP_CONDITION}{cursor.ordered('n.id')}"  # noqa: S608 (constants)
    rows = rows_of(sql, {"account": account_id, "key": key, **cursor.parameters})
    return cursor.newest_first([listing.ListedNotification(*values) for values in rows])


def count_unread_groups(
    account_id: int, row_filter: listing.NotificationFilter, grouped_types: Collection[str], limit: int
) -> int:
    """Return the number of groups newer than the account's marker, up to `limit`. At most four queries over a limited number of
    notifications (per type, if types are chosen).
    """
    parts = row_filter.parts()
    if not parts or limit < 1:
        return 0
    after = listing.unread_cursor(account_id, limit).after
    bound = "" if after is None else " AND n.id > %(after)s"
    rows = " UNION ALL ".join(_unread_rows(part, bound) for part in parts)
    sql = _COUNT.format(rows=rows, shown=listing.SHOWN_CONDITION, any_part=" OR ".join(parts))
    parameters = {
        **row_filter.parameters(account_id),
        "grouped": list(grouped_types),
        "limit": limit,
        **({} if after is None else {"after": after}),
    }
    count = 0
    first = max(STRETCHES[0], 3 * limit)
    for stretch in (first, 10 * first, STRETCHES[-1]):
        ((read, count),) = rows_of(sql, {**parameters, "stretch": stretch})
        if count >= limit or read < stretch:
            break
    return int(count)


def _unread_rows(part: str, bound: str) -> str:
    # The first condition has BETWEEN for the reason given at _STOP. The second condition needs no BETWEEN, because its index
    # has a further column between the account and the id.
    if part == listing.UNFILTERED:
        condition, order = "n.account_id BETWEEN %(account)s AND %(account)s", "n.account_id ASC, "
    else:
        condition, order = "n.account_id = %(account)s", ""
    return _UNREAD_ROWS.format(recipient=condition, order=order, part=part, bound=bound)


# The newest notifications are read first, in the order of an index and without a condition on the marker, because the planner
# does not know the marker's value, and would read all notifications of the account.
_UNREAD: Final = f"""
SELECT count(DISTINCT COALESCE(CASE WHEN n.type = ANY(%(grouped)s::text[]) THEN n.group_key END, n.id::text))
  FROM (SELECT n.account_id, n.id, n.type, n.group_key, n.from_account_id, n.status_id FROM notifications_notification n
         WHERE n.account_id BETWEEN %(account)s AND %(account)s AND {listing.UNFILTERED}
         ORDER BY n.account_id, n.id DESC LIMIT {STRETCHES[0]}) n
 WHERE n.id > COALESCE((SELECT m.last_read_id FROM timelines_marker m
               WHERE m.account_id = %(account)s AND m.timeline = %(timeline)s), 0)
   AND {listing.SHOWN_CONDITION}
"""  # noqa: S608 (constants)


def unread_groups() -> RawSQL:
    """Return an expression for a query of users: the number of groups newer than the marker, among the newest notifications."""
    types = ", ".join(f"'{name}'" for name in GROUPED_TYPES)
    constants = {"account": "accounts_user.account_id", "timeline": f"'{Timeline.NOTIFICATIONS.value}'"}
    return RawSQL(_UNREAD % {**constants, "grouped": f"ARRAY[{types}]"}, ())  # noqa: S611 (constants)


def load_group_page(
    groups: Sequence[NotificationGroup],
    viewer_id: int,
    *,
    supported: Collection[str] | None = None,
    partial: bool = False,
) -> GroupPage:
    """Return the data of these groups, in the same number of queries as a page of notifications. With `partial`, only the first
    account of each group is shown in full; another query loads the others in short form.
    """
    rows = [group.newest for group in groups]
    subjects = listing.load_subjects(rows, viewer_id)
    in_full = dict.fromkeys(number for group in groups for number in (group.sample[:1] if partial else group.sample))
    in_short = [number for group in groups for number in group.sample if number not in in_full]
    accounts = load_counted_accounts([*in_full, *subjects.people], viewer_id)
    statuses = hydrate(dict.fromkeys(row.status_id for row in rows if row.status_id is not None), viewer_id)
    named = listing.load_named(rows, subjects, supported)
    return GroupPage(
        groups, accounts, load_accounts(in_short) if partial else None, statuses, subjects, supported, named
    )
