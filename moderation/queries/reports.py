"""Reads what a report may name, and reports with what their entity shows."""

from __future__ import annotations

from collections.abc import Collection as Many
from collections.abc import Sequence
from typing import Final

from django.db import connection
from django.db.models import Exists, OuterRef, Q

from accounts.models import Account, Collection, Follow
from moderation.models import InstanceRule, Report
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import Mention, Status
from statuses.policies.visibility import FOR_ANYBODY, FOR_FOLLOWERS
from statuses.queries.statuses import list_statuses

# Not by the lookup "overlap": Django sends the numbers of an array as 4 bytes each, which ids are not.
_REPORTED: Final = """
(SELECT unnest(status_ids) FROM moderation_report WHERE status_ids && %(ids)s::bigint[]
 INTERSECT SELECT unnest(%(ids)s::bigint[]))
UNION
(SELECT unnest(status_ids) FROM moderation_strike WHERE status_ids && %(ids)s::bigint[]
 INTERSECT SELECT unnest(%(ids)s::bigint[]))
"""


def find_reportable_statuses(target: Account, viewer_id: int, status_ids: Sequence[str]) -> list[int]:
    """The ids of these posts, which are all the target's and readable for the viewer. Raises NotFound otherwise."""
    wanted = _ids(status_ids)
    if not wanted:
        return []
    found = list_statuses(viewer_id).filter(account=target, id__one_of=wanted)
    return _all_of(wanted, found.values_list("id", flat=True))


def find_received_statuses(target: Account, domain: str, status_ids: Sequence[int]) -> list[int]:
    """Those of these posts of the target that may have reached a server: for anybody, for followers where the target has
    any there, or mentioning somebody there.
    """
    if not status_ids:
        return []
    followed = Follow.objects.filter(target=target, account__domain=domain).exists()
    mentioned = Exists(Mention.objects.filter(status_id=OuterRef("id"), account__domain=domain))
    readable = Q(visibility__in=FOR_FOLLOWERS) if followed else Q(visibility__in=FOR_ANYBODY)
    found = Status.objects.filter(readable | Q(mentioned), account=target, id__one_of=list(status_ids))
    return list(found.order_by("id").values_list("id", flat=True))


def find_reportable_collections(target: Account, collection_ids: Sequence[str]) -> list[int]:
    """The ids of these collections, which are all the target's. Raises NotFound otherwise."""
    wanted = _ids(collection_ids)
    if not wanted:
        return []
    return _all_of(wanted, Collection.objects.filter(account=target, id__one_of=wanted).values_list("id", flat=True))


def load_rule_ids(rule_ids: Sequence[str]) -> list[int] | None:
    """The ids of these rules, withdrawn ones too; None when there is not each of them."""
    numbers = [parse_id(number) for number in rule_ids]
    wanted = list(dict.fromkeys(number for number in numbers if number is not None))
    if len(wanted) < len(set(rule_ids)):
        return None
    found = set(InstanceRule.objects.filter(id__one_of=wanted).values_list("id", flat=True)) if wanted else set()
    return wanted if found.issuperset(wanted) else None


def load_reports(report_ids: Many[int]) -> dict[int, Report]:
    """The reports with these ids."""
    if not report_ids:
        return {}
    return {report.id: report for report in Report.objects.filter(id__one_of=list(report_ids))}


def _ids(sent: Sequence[str]) -> list[int]:
    numbers = [parse_id(number) for number in sent]
    if None in numbers:
        raise NotFound
    return list(dict.fromkeys(number for number in numbers if number is not None))


def _all_of(wanted: list[int], found: Many[int]) -> list[int]:
    if len(set(found)) < len(wanted):
        raise NotFound
    return wanted


def find_reported_statuses(status_ids: Many[int]) -> set[int]:
    """Those of the posts that a report or a warning is about: staff look at them also long after."""
    with connection.cursor() as cursor:
        cursor.execute(_REPORTED, {"ids": list(status_ids)})
        return {number for (number,) in cursor.fetchall()}
