"""Reads the inbox of staff: open reports by reported account, with the context for a decision."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Max, QuerySet

from accounts.models import Account, AuditEntry, User
from moderation.models import Decision, InstanceRule, Report, StaffNote, Strike
from moderation.queries.account_overview import load_audit, same_people
from moderation.queries.person_cards import PersonCard, load_person_cards
from moderation.queries.reports import load_rules
from social.kernel import clock
from social.kernel.statements import Value, rows_of
from statuses.models import Status
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.page import PostPage, fill, of_rows
from statuses.queries.posts import load_posts

PEOPLE_SHOWN: Final = 10
REPORTS_SHOWN: Final = 100
POSTS_SHOWN: Final = 30
#: Number of reported posts that the inbox shows for each account, newest first.
POSTS_OF_EACH: Final = 10
#: Number of reports on a page of the inbox whose posts and comments are read, newest first.
REPORTS_READ: Final = 500
COMMENTS_SHOWN: Final = 3
THREAD_SHOWN: Final = 60
LISTED_LIMIT: Final = 10


@dataclass(frozen=True, slots=True)
class Case:
    """A reported account as staff see it: its open reports, newest first; the reported posts with their public ancestors and
    direct replies, in a page of entities; its card; earlier strikes and notes; users with the same IP address or mail server;
    other reported accounts of its server; decisions that can still be undone; and the audit log entries about the account and
    these reports, newest first.
    """

    card: PersonCard
    reports: Sequence[Report]
    rules: dict[int, InstanceRule]
    page: PostPage
    posts: Sequence[int]
    above: dict[int, list[int]]
    below: dict[int, list[int]]
    strikes: Sequence[Strike]
    notes: Sequence[StaffNote]
    same_people: Sequence[User]
    same_server: Sequence[tuple[Account, int]]
    decisions: Sequence[Decision]
    history: Sequence[AuditEntry]


def open_reports(*, category: str = "", origin: str = "", mine: int | None = None) -> QuerySet[Report]:
    """Return the open reports, filtered by category, origin of the reported account ("local" or "remote") and assignee."""
    rows = Report.objects.filter(action_taken_at=None)
    if category:
        rows = rows.filter(category=category)
    if origin:
        rows = rows.filter(target_account__domain__isnull=origin == "local")
    return rows if mine is None else rows.filter(assigned_account_id=mine)


def undoable_decisions() -> QuerySet[Decision]:
    """Return the decisions that can still be undone, newest first."""
    return Decision.objects.filter(undone_at=None, ends_at__gt=clock.now()).order_by("-id")


def count_reported(rows: QuerySet[Report]) -> tuple[int, int]:
    """Count the accounts that these reports are about, and the reports."""
    counts = rows.aggregate(accounts=Count("target_account_id", distinct=True), reports=Count("id"))
    return counts["accounts"], counts["reports"]


def load_reported(rows: QuerySet[Report], start: int) -> tuple[list[dict[str, Any]], PostPage]:
    """Return the reported accounts from the offset `start` on, at most PEOPLE_SHOWN, the most recently reported first, and a
    page of their reported posts; in a fixed number of statements.

    Each account has the numbers of `reports` and `reporters`, whether a report is `assigned`, the `categories`, the time of the
    `newest` report, the newest `comments`, and the ids of the newest reported `posts` that everybody may read; `posts_hidden`
    is the number of the other reported posts.
    """
    groups: Any = rows.values("target_account_id").annotate(
        reports=Count("id"),
        reporters=Count("account_id", distinct=True),
        assigned=Count("assigned_account_id"),
        categories=ArrayAgg("category", distinct=True),
        newest=Max("created_at"),
        last=Max("id"),
    )
    people: list[dict[str, Any]] = list(groups.order_by("-last")[start : start + PEOPLE_SHOWN])
    comments: dict[int, dict[str, None]] = defaultdict(dict)
    named: dict[int, dict[int, None]] = defaultdict(dict)
    reports = rows.filter(target_account_id__one_of=[person["target_account_id"] for person in people]).order_by("-id")
    columns = reports.values_list("target_account_id", "comment", "status_ids")
    for account_id, comment, status_ids in columns[:REPORTS_READ]:
        if comment:
            comments[account_id][comment] = None
        named[account_id] |= dict.fromkeys(sorted(status_ids, reverse=True))
    newest = {account_id: list(numbers)[:POSTS_OF_EACH] for account_id, numbers in named.items()}
    loaded = load_posts([number for numbers in newest.values() for number in numbers])
    posts = [post for post in loaded if post.visibility in OPEN_VISIBILITIES]
    written = {(post.account_id, post.id) for post in posts}
    for person in people:
        account_id = person["target_account_id"]
        person["categories"].sort()
        person["comments"] = list(comments[account_id])[:COMMENTS_SHOWN]
        person["posts"] = [number for number in newest.get(account_id, ()) if (account_id, number) in written]
        person["posts_hidden"] = len(named[account_id]) - len(person["posts"])
    return people, fill(of_rows(posts, None))


def load_authors(status_ids: Sequence[int]) -> dict[int, int]:
    """Return the authors of these posts, as account ids by post id; unknown posts are left out."""
    return dict(Status.objects.filter(id__one_of=status_ids).values_list("id", "account_id"))


# Public ancestors and replies of reported posts.
_AROUND: Final = """
WITH reported AS (SELECT id, COALESCE(thread_path, ARRAY[id]) AS path FROM statuses_status WHERE id = ANY(%(ids)s::bigint[]))
SELECT reported.id, other.id, other.id = ANY(reported.path) FROM reported
  JOIN statuses_status other ON other.id = ANY(reported.path) OR other.in_reply_to_id = reported.id
 WHERE other.id <> reported.id AND other.deleted_at IS NULL AND other.visibility = ANY(%(visibilities)s)
 ORDER BY other.id LIMIT %(limit)s
"""


def load_case(target: Account, viewer_id: int | None) -> Case:
    """Return the data about a reported account. The caller checks the permission, and logs the view of private posts."""
    reports = list(
        Report.objects.filter(target_account=target, action_taken_at=None)
        .select_related("account", "assigned_account")
        .order_by("-id")[:REPORTS_SHOWN]
    )
    posts = sorted({number for report in reports for number in report.status_ids})[-POSTS_SHOWN:]
    above, below = _load_context_ids(posts)
    others = {number for ids in (*above.values(), *below.values()) for number in ids}
    rows = load_posts([*posts, *sorted(others - set(posts))])
    card = load_person_cards([target.pk])[target.pk]
    return Case(
        card=card,
        reports=reports,
        rules=load_rules(reports),
        page=fill(of_rows(rows, viewer_id)),
        posts=[row.id for row in rows if row.id in set(posts) and row.account_id == target.pk],
        above=above,
        below=below,
        strikes=list(
            Strike.objects.filter(target_account=target)
            .select_related("account", "appeal")
            .order_by("-id")[:LISTED_LIMIT]
        ),
        notes=list(StaffNote.objects.filter(account=target).select_related("author").order_by("-id")[:LISTED_LIMIT]),
        same_people=same_people(card.admin, LISTED_LIMIT),
        same_server=_same_server(target),
        decisions=list(undoable_decisions().filter(target_account=target).select_related("account")[:LISTED_LIMIT]),
        history=load_audit(target, card.admin.user, [report.pk for report in reports]),
    )


def _load_context_ids(posts: Sequence[int]) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    visibilities = [each.value for each in OPEN_VISIBILITIES]
    values: dict[str, Value] = {"ids": list(posts), "visibilities": visibilities, "limit": THREAD_SHOWN}
    for status_id, other_id, is_above in rows_of(_AROUND, values) if posts else ():
        (above if is_above else below).setdefault(status_id, []).append(other_id)
    return above, below


def _same_server(target: Account) -> list[tuple[Account, int]]:
    """Return the most reported other accounts of the target's server and their numbers of reports; none for a local target."""
    if target.domain is None:
        return []
    rows = open_reports().filter(target_account__domain=target.domain).exclude(target_account=target)
    grouped = rows.values("target_account_id").annotate(count=Count("id")).order_by("-count", "target_account_id")
    counts = dict(grouped.values_list("target_account_id", "count")[:LISTED_LIMIT])
    accounts = Account.objects.filter(id__one_of=counts).in_bulk()
    return [(accounts[number], count) for number, count in counts.items() if number in accounts]
