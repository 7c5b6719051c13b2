"""What staff see of posts that are not for them: only those attached to a report, and each look is in the audit log."""

from __future__ import annotations

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from moderation.models import Report
from statuses.policies.visibility import FOR_ANYBODY
from statuses.queries.statuses import Excerpt, list_excerpts


def open_evidence(*, by: Staff, report: Report) -> list[Excerpt]:
    """The posts attached to a report. Writes an audit row that names those which are not for anybody to read.

    Raises Forbidden without MANAGE_REPORTS.
    """
    require(by, Permission.MANAGE_REPORTS)
    posts = list_excerpts(report.status_ids, report.target_account_id)
    note_view(by=by, report=report, status_ids=[post.id for post in posts if post.visibility not in FOR_ANYBODY])
    return posts


def note_view(*, by: Staff, report: Report, status_ids: list[int]) -> None:
    """Write an audit row: these posts, attached to the report and not for anybody to read, were shown to staff."""
    if status_ids:
        record(
            by=by,
            action="view",
            target_type="Report",
            target_id=report.id,
            target_name=f"@{report.target_account.acct}",
            statuses=status_ids,
        )
