"""Reads yearly reports, and the data from which they are computed, in a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from accounts.models import Follow
from accounts.queries.accounts import CountedAccounts, load_counted_accounts
from moderation.queries.instance import offered_report_year
from notifications.models import AnnualReport
from notifications.policies.annual_reports import SCHEMA_VERSION, ReportState, Tally, archetype_of
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import first_at, parse_id
from statuses.models import Poll, Status, StatusTag
from statuses.policies.visibility import OPEN_VISIBILITIES
from statuses.queries.page import PostPage, hydrate

_LAST_YEAR: Final = 9998
# Minimum uses of a hashtag in a report, because a hashtag that was used only once is not typical of the year.
_LEAST_USES: Final = 2


@dataclass(frozen=True)
class ReportPage:
    """Reports with the accounts and posts that they name."""

    reports: Sequence[AnnualReport]
    accounts: CountedAccounts
    statuses: PostPage


def parse_year(text: str) -> int | None:
    """Parse the year in a path; return None for an invalid year."""
    year = parse_id(text)
    return year if year is not None and 0 < year <= _LAST_YEAR else None


def load_unread(account_id: int) -> ReportPage:
    """Return the finished reports of an account that are not marked as read, the latest year first."""
    return _page(_finished(account_id).filter(read_at=None).order_by("-year"), account_id)


def load_report(account_id: int, year: int | None) -> ReportPage:
    """Return the finished report of a year. Raises NotFound."""
    page = _page(_finished(account_id).filter(year=year or 0), account_id)
    if not page.reports:
        raise NotFound
    return page


def find_state(account_id: int, year: int | None) -> tuple[ReportState, AnnualReport | None]:
    """Return the state of a year's report, and the report if it was requested."""
    report = AnnualReport.objects.filter(account_id=account_id, year=year or 0).first()
    if report is not None:
        return ReportState.GENERATING if report.data is None else ReportState.AVAILABLE, report
    eligible = year is not None and year == offered_report_year() and has_posted(account_id, year)
    return ReportState.ELIGIBLE if eligible else ReportState.INELIGIBLE, None


def find_requested(account_id: int, report_id: int | None) -> AnnualReport:
    """Return the account's report with this id, finished or not. Raises NotFound."""
    return require_found(AnnualReport.objects.filter(account_id=account_id, id=report_id or 0).first())


def has_posted(account_id: int, year: int) -> bool:
    """Tell whether the account has posted or boosted anything publicly in a year."""
    return _posts(account_id, year).filter(visibility__in=OPEN_VISIBILITIES).exists()


def compute_report(account_id: int, year: int) -> dict[str, Any]:
    """Return the data of a report in schema SCHEMA_VERSION: four queries over the posts and followers of the year."""
    posts = _posts(account_id, year)
    to_others = (Q(in_reply_to__isnull=False) | Q(in_reply_to_uri__isnull=False)) & ~Q(in_reply_to_account=F("account"))
    counts = posts.annotate(asks=Exists(Poll.objects.filter(status=OuterRef("id")))).aggregate(
        total=Count("id"),
        boosts=Count("id", filter=Q(reblog_of__isnull=False)),
        answers=Count("id", filter=to_others),
        polls=Count("id", filter=Q(asks=True)),
        standalone=Count("id", filter=Q(reblog_of=None) & ~to_others),
    )
    tally = Tally(**counts)
    followers = Follow.objects.filter(
        target_id=account_id, created_at__gte=_start_of_year(year), created_at__lt=_start_of_year(year + 1)
    )
    hashtags = (
        StatusTag.objects.filter(status__in=posts.values("id"))
        .values_list("tag__display_name")
        .annotate(uses=Count("id"))
        .filter(uses__gte=_LEAST_USES)
        .order_by("-uses", "tag__display_name")
    )
    boosted = posts.filter(visibility__in=OPEN_VISIBILITIES, reblog_of=None, stat__reblogs_count__gt=0)
    top = boosted.order_by("-stat__reblogs_count", "-id").values_list("id", flat=True).first()
    return {
        "archetype": str(archetype_of(tally)),
        "time_series": [{"month": 12, "statuses": tally.total, "followers": followers.count()}],
        "top_hashtags": [{"name": name, "count": uses} for name, uses in hashtags[:1]],
        "top_statuses": {
            "by_reblogs": str(top) if top is not None else None,
            "by_favourites": None,
            "by_replies": None,
        },
    }


def _finished(account_id: int) -> QuerySet[AnnualReport]:
    return AnnualReport.objects.filter(account_id=account_id, data__isnull=False, schema_version=SCHEMA_VERSION)


def _page(rows: QuerySet[AnnualReport], viewer_id: int) -> ReportPage:
    reports = list(rows)
    tops = [report.data["top_statuses"]["by_reblogs"] for report in reports if report.data is not None]
    return ReportPage(
        reports,
        load_counted_accounts({report.account_id for report in reports}, viewer_id),
        hydrate([int(number) for number in tops if number is not None], viewer_id),
    )


def _posts(account_id: int, year: int) -> QuerySet[Status]:
    ids = Q(id__gte=first_at(_start_of_year(year)), id__lt=first_at(_start_of_year(year + 1)))
    return Status.objects.filter(ids, account_id=account_id, deleted_at=None)


def _start_of_year(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)
