"""Reads reports, strikes and the appeals against them, for staff and for the accounts concerned."""

from collections import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.collections.models import Collection
from accounts.models import Account, Follow
from moderation.models import Appeal, InstanceRule, Report, Strike
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.statements import rows_of
from statuses.models import Mention, Status
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, OPEN_VISIBILITIES
from statuses.queries.statuses import list_statuses

NAMING_LIMIT: Final = 1_000
# Raw SQL, because with the lookup "overlap" Django would send ids as 4-byte integers, which are too small.
_REPORTED: Final = """
(SELECT unnest(status_ids) FROM moderation_report WHERE status_ids && %(ids)s::bigint[]
 INTERSECT SELECT unnest(%(ids)s::bigint[]))
UNION
(SELECT unnest(status_ids) FROM moderation_strike WHERE status_ids && %(ids)s::bigint[]
 INTERSECT SELECT unnest(%(ids)s::bigint[]))
"""


def find_reportable_statuses(target: Account, viewer_id: int, status_ids: Sequence[str]) -> list[int]:
    """Return the ids of these posts. Raises NotFound unless all posts belong to the target and the viewer may read them."""
    ids = _parse_ids(status_ids)
    return _all_of(ids, list_statuses(viewer_id).filter(account=target, id__one_of=ids).values_list("id", flat=True))


def find_received_statuses(target: Account, domain: str, status_ids: Sequence[int]) -> list[int]:
    """Return the target's posts among these that may have reached the server `domain`: public posts, followers-only posts if
    the target has followers there, and posts that mention an account there, but no local-only posts.
    """
    if not status_ids:
        return []
    followed = Follow.objects.filter(target=target, account__domain=domain).exists()
    mentioned = Exists(Mention.objects.filter(status_id=OuterRef("id"), account__domain=domain))
    readable = Q(visibility__in=FOLLOWER_VISIBILITIES) if followed else Q(visibility__in=OPEN_VISIBILITIES)
    posts = Status.objects.filter(
        readable | Q(mentioned), account=target, id__one_of=list(status_ids), local_only=False
    )
    return list(posts.order_by("id").values_list("id", flat=True))


def find_reportable_collections(target: Account, collection_ids: Sequence[str]) -> list[int]:
    """Return the ids of these collections. Raises NotFound unless all collections belong to the target."""
    ids = _parse_ids(collection_ids)
    return _all_of(ids, find_owned_collections(target, ids))


def find_owned_collections(target: Account, collection_ids: abc.Collection[int]) -> list[int]:
    """Return those of these ids whose collections belong to the account."""
    owned = Collection.objects.filter(account=target, id__one_of=list(collection_ids))
    return list(owned.order_by("id").values_list("id", flat=True))


def load_rule_ids(rule_ids: Sequence[str]) -> list[int] | None:
    """Return the ids of these rules, including withdrawn rules; None unless all rules exist."""
    numbers = [parse_id(number) for number in rule_ids]
    ids = list(dict.fromkeys(number for number in numbers if number is not None))
    if len(ids) < len(set(rule_ids)):
        return None
    existing = InstanceRule.objects.filter(id__one_of=ids).values_list("id", flat=True)
    return ids if set(existing).issuperset(ids) else None


def load_reports(report_ids: abc.Collection[int]) -> dict[int, Report]:
    return Report.objects.filter(id__one_of=report_ids).in_bulk()


def _parse_ids(texts: Sequence[str]) -> list[int]:
    numbers = [parse_id(number) for number in texts]
    return list(dict.fromkeys(require_found(number) for number in numbers))


def _all_of(ids: list[int], present: Iterable[int]) -> list[int]:
    if set(present) < set(ids):
        raise NotFound
    return ids


def find_reported_statuses(status_ids: abc.Collection[int]) -> set[int]:
    """Return the posts among these that a report or a strike is about, and that are therefore kept for staff."""
    return {number for (number,) in rows_of(_REPORTED, {"ids": list(status_ids)})}


def reports_naming(target: Account, status_ids: abc.Collection[int]) -> list[Report]:
    """Return the reports that name one of these posts, open reports first. Only the last NAMING_LIMIT reports are searched."""
    if not status_ids:
        return []
    rows = Report.objects.filter(target_account=target).order_by("-id")[:NAMING_LIMIT]
    reports = [report for report in rows if not set(status_ids).isdisjoint(report.status_ids)]
    return sorted(reports, key=lambda report: (report.is_resolved, report.pk))


def outlive(account_id: int) -> bool:
    """Tell whether reports about an account outlive it, which they do only if it is erased after a suspension by staff."""
    return Report.objects.filter(target_account_id=account_id, target_account__erased_at__isnull=False).exists()


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """Conditions on reports; None: no condition. By default only open reports match; with `resolved`, only settled reports;
    with both flags, all reports.
    """

    resolved: bool = False
    unresolved: bool = False
    account_id: int | None = None
    target_account_id: int | None = None


def list_reports(report_filter: ReportFilter) -> QuerySet[Report]:
    """Return the matching reports, unordered."""
    rows = Report.objects.all()
    if not (report_filter.resolved and report_filter.unresolved):
        rows = rows.filter(action_taken_at__isnull=not report_filter.resolved)
    if report_filter.account_id is not None:
        rows = rows.filter(account_id=report_filter.account_id)
    if report_filter.target_account_id is not None:
        rows = rows.filter(target_account_id=report_filter.target_account_id)
    return rows


def find_report(report_id: int) -> Report:
    """Return the report with this id. Raises NotFound."""
    return require_found(Report.objects.filter(id=report_id).first())


def find_report_about(account: Account, report_id: int) -> Report:
    """Return the report with this id. Raises NotFound if the report does not exist or is about another account."""
    report = find_report(report_id)
    if report.target_account_id != account.pk:
        raise NotFound
    return report


def load_rules(reports: abc.Collection[Report]) -> dict[int, InstanceRule]:
    """Return the rules that these reports name, including withdrawn rules, keyed by id. Needs one query."""
    rule_ids = {number for report in reports for number in report.rule_ids or ()}
    return InstanceRule.objects.filter(id__one_of=rule_ids).in_bulk()


def people_of(report: Report) -> list[int]:
    """Return the accounts that a report names: reporter, reported account, assignee, and the moderator who has settled it."""
    named = (report.account_id, report.target_account_id, report.assigned_account_id, report.action_taken_by_id)
    return [number for number in named if number is not None]


def load_strikes(strike_ids: abc.Collection[int]) -> dict[int, Strike]:
    return Strike.objects.filter(id__one_of=strike_ids).in_bulk()


def load_appeals(strike_ids: abc.Collection[int]) -> dict[int, Appeal]:
    """Return the appeals against these strikes, keyed by the id of the strike."""
    return {appeal.strike_id: appeal for appeal in Appeal.objects.filter(strike_id__one_of=strike_ids)}


def list_strikes(account_id: int | None) -> QuerySet[Strike]:
    """Return the strikes against an account (None: any), newest first, with their appeals and the account's user."""
    strikes = Strike.objects.select_related("appeal", "target_account__user").order_by("-id")
    return strikes if account_id is None else strikes.filter(target_account_id=account_id)


def find_strike(account_id: int, strike_id: int) -> Strike:
    """Return a strike against this account, with its appeal. Raises NotFound for a strike against another account."""
    return require_found(list_strikes(account_id).filter(id=strike_id).first())
