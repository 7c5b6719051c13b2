"""Reads notifications in groups: who else favourited the same post, or followed, in the same half day (contract, behaviours
section 13 "Grouping").
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from accounts.models import Account
from accounts.queries.accounts import CountedAccounts, load_accounts, load_counted_accounts
from notifications.policies.verdicts import RULES
from notifications.queries.listing import (
    COLUMNS,
    SHOWN_CONDITION,
    UNGROUPED,
    ListedNotification,
    NotificationFilter,
    Subjects,
    find_notification,
    load_named,
    load_subjects,
    unread_cursor,
)
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.ids import MAX_ID, parse_id
from social.kernel.statements import rows_of
from statuses.queries.page import Page, hydrate

GROUPED_TYPES: Final = tuple(str(type) for type, rule in RULES.items() if rule.grouped)
"""The types whose notifications are grouped where a client does not name others."""

SAMPLE_SIZE: Final = 8
"""Accounts that a group shows; the others are pages of their own."""

# One step finds the next notification whose group is not on the page yet, and reads nothing twice.
_HEADS: Final = """
WITH RECURSIVE page (place, id, seen) AS (
  SELECT 0, %(start)s::bigint, ARRAY[]::text[]
   UNION ALL
  SELECT page.place + 1, found.id,
         CASE WHEN found.group_key IS NULL THEN page.seen ELSE page.seen || found.group_key END
    FROM page, LATERAL (
         SELECT * FROM ({parts}) f ORDER BY id {direction} LIMIT 1) found
   WHERE page.place < %(limit)s)
SELECT {columns}
  FROM page JOIN notifications_notification n ON n.id = page.id
 WHERE page.place > 0
 ORDER BY n.id DESC
"""
_HEAD: Final = """
(SELECT n.id, CASE WHEN n.type = ANY(%(grouped)s::text[]) THEN n.group_key END AS group_key
   FROM notifications_notification n
  WHERE {shown} AND {part} AND n.id {beyond} page.id{bound}
    AND (n.group_key IS NULL OR n.type <> ALL(%(grouped)s::text[]) OR n.group_key <> ALL(page.seen))
  ORDER BY n.id {direction} LIMIT 1)
"""
_GROUP_CONDITION: Final = f"{SHOWN_CONDITION} AND NOT n.filtered AND n.group_key = %(key)s"
_GROUPS: Final = f"""
SELECT k.key, g.*
  FROM unnest(%(keys)s::text[]) AS k (key)
 CROSS JOIN LATERAL (
       SELECT count(*), max(n.id), (array_agg(n.from_account_id ORDER BY n.id DESC))[1:{SAMPLE_SIZE}],
              min(n.id) FILTER (WHERE n.id >= %(lowest)s), max(n.created_at) FILTER (WHERE n.id >= %(lowest)s)
         FROM notifications_notification n
        WHERE {SHOWN_CONDITION} AND NOT n.filtered AND n.group_key = k.key AND n.id <= %(highest)s) g
"""  # noqa: S608 (constants)


@dataclass(frozen=True, slots=True)
class Span:
    """The notifications that belong to a page: those with ids from `lowest` to `highest`."""

    lowest: int = 0
    highest: int = MAX_ID


@dataclass(frozen=True, slots=True)
class NotificationGroup:
    """Notifications of one key up to the end of a page, with the `newest` of them. `sample`: the newest senders, newest
    first; `lowest_id` and `latest_at`: of those on the page.
    """

    newest: ListedNotification
    key: str
    count: int
    most_recent_id: int
    sample: Sequence[int]
    lowest_id: int
    latest_at: datetime


@dataclass(frozen=True)
class GroupPage:
    """Groups with the accounts and posts that they name, and what else they are about. `partial`: accounts that are shown in
    short; None where all are shown in full.
    """

    groups: Sequence[NotificationGroup]
    accounts: CountedAccounts
    partial: Mapping[int, Account] | None
    statuses: Page
    subjects: Subjects
    supported: Collection[str] | None
    named: Mapping[int, Account]


def list_heads(
    account_id: int, wanted: NotificationFilter, grouped_types: Collection[str], cursor: Cursor
) -> list[ListedNotification]:
    """The first notification of each group at a cursor, in its direction; newest first. One query."""
    if cursor.ascending:
        start, beyond, bound = cursor.after, ">", "" if cursor.before is None else " AND n.id < %(before)s"
    else:
        start, beyond, bound = cursor.before, "<", "" if cursor.after is None else " AND n.id > %(after)s"
    parts = " UNION ALL ".join(
        _HEAD.format(shown=SHOWN_CONDITION, part=part, beyond=beyond, bound=bound, direction=cursor.direction)
        for part in wanted.parts()
    )
    if not parts:
        return []
    parameters = {
        **cursor.parameters,
        "start": start if start is not None else 0 if cursor.ascending else MAX_ID,
        "account": account_id,
        "types": wanted.chosen_types,
        "sender": wanted.from_account_id,
        "grouped": list(grouped_types),
    }
    rows = rows_of(_HEADS.format(parts=parts, direction=cursor.direction, columns=COLUMNS), parameters)
    return [ListedNotification(*values) for values in rows]


def span_of(heads: Sequence[ListedNotification], cursor: Cursor) -> Span:
    """The ids of a page: from its last to its first notification, and as far as was asked where nothing lies beyond."""
    lowest, highest = heads[-1].id, heads[0].id
    if len(heads) >= cursor.limit:
        return Span(lowest, highest)
    if cursor.ascending:
        return Span(lowest, MAX_ID if cursor.before is None else cursor.before - 1)
    return Span(0 if cursor.after is None else cursor.after + 1, highest)


def load_groups(
    account_id: int, heads: Sequence[ListedNotification], grouped_types: Collection[str], span: Span
) -> list[NotificationGroup]:
    """The groups of these notifications, in their order. One query."""
    grouped = [head for head in heads if head.group_key is not None and head.type in grouped_types]
    found = {}
    if grouped:
        keys = [head.key for head in grouped]
        bounds = {"account": account_id, "lowest": span.lowest, "highest": span.highest}
        found = {key: values for key, *values in rows_of(_GROUPS, {"keys": keys, **bounds}) if values[0]}
    groups = []
    for head in heads:
        count, newest_id, sample, lowest_id, latest_at = 1, head.id, [head.from_account_id], head.id, head.created_at
        key = f"{UNGROUPED}{head.id}"
        if head.key in found and head.type in grouped_types:
            key = head.key
            count, newest_id, sample, lowest_id, latest_at = found[key]
        newest = replace(head, id=newest_id, from_account_id=sample[0], others=count - 1)
        groups.append(NotificationGroup(newest, key, count, newest_id, sample, lowest_id, latest_at))
    return groups


def find_group(account_id: int, key: str) -> NotificationGroup:
    """The group of an account's notifications with this key. Raises NotFound."""
    if key.startswith(UNGROUPED):
        head = find_notification(account_id, parse_id(key.removeprefix(UNGROUPED)) or 0)
        if head.group_key is not None:
            raise NotFound
    else:
        heads = list_of_group(account_id, key, Cursor(1))
        if not heads:
            raise NotFound
        head = heads[0]
    return load_groups(account_id, [head], GROUPED_TYPES, Span())[0]


def list_of_group(account_id: int, key: str, cursor: Cursor) -> list[ListedNotification]:
    """The notifications of one group at a cursor, newest first. One query."""
    sql = f"SELECT {COLUMNS} FROM notifications_notification n WHERE {_GROUP_CONDITION}{cursor.ordered('n.id')}"  # noqa: S608 (constants)
    rows = rows_of(sql, {"account": account_id, "key": key, **cursor.parameters})
    return cursor.newest_first([ListedNotification(*values) for values in rows])


def count_unread_groups(account_id: int, wanted: NotificationFilter, grouped_types: Collection[str], limit: int) -> int:
    """The number of groups with notifications that are newer than one's marker, up to `limit`. Two queries."""
    return len(list_heads(account_id, wanted, grouped_types, unread_cursor(account_id, limit))) if limit else 0


def load_group_page(
    groups: Sequence[NotificationGroup],
    viewer_id: int,
    *,
    supported: Collection[str] | None = None,
    partial: bool = False,
) -> GroupPage:
    """Data of these groups, in as many queries as for a page of notifications, and one more for accounts in short: with
    `partial` only the first account of each group is shown in full.
    """
    rows = [group.newest for group in groups]
    subjects = load_subjects(rows, viewer_id)
    in_full = dict.fromkeys(number for group in groups for number in (group.sample[:1] if partial else group.sample))
    in_short = [number for group in groups for number in group.sample if number not in in_full]
    accounts = load_counted_accounts([*in_full, *subjects.people], viewer_id)
    statuses = hydrate(dict.fromkeys(row.status_id for row in rows if row.status_id is not None), viewer_id)
    named = load_named(rows, subjects, supported)
    return GroupPage(
        groups, accounts, load_accounts(in_short) if partial else None, statuses, subjects, supported, named
    )
