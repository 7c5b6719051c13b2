"""What staff see of posts that are not for them: only those attached to a report, and each look is in the audit log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db import transaction

from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_each
from moderation.models import Report
from statuses.policies.visibility import FOR_ANYBODY
from statuses.queries.history import EarlierVersion, load_earlier_versions
from statuses.queries.statuses import Excerpt, list_excerpts


@dataclass(frozen=True)
class Evidence:
    """A post attached to a report, and what it said before it was edited, the oldest version first."""

    post: Excerpt
    earlier: list[EarlierVersion]


def open_evidence(*, by: Staff, report: Report) -> list[Evidence]:
    """The posts attached to a report, deleted ones too. The look at those that are not for anybody to read is written down.

    Raises Forbidden without MANAGE_REPORTS.
    """
    require(by, Permission.MANAGE_REPORTS)
    posts = list_excerpts(report.status_ids, report.target_account_id)
    earlier = load_earlier_versions([post.id for post in posts])
    name = f"@{report.target_account.acct}"
    note_posts_seen(by=by, posts=[(post.id, name, post.visibility) for post in posts])
    return [Evidence(post, earlier.get(post.id, [])) for post in posts]


def note_posts_seen(*, by: Staff, posts: Iterable[tuple[int, str, str]]) -> None:
    """Write an audit row for each of these posts (id, author's address, visibility) that not everybody may read: they were
    shown to `by`. All in one statement; none when all are public.
    """
    private = [(number, name) for number, name, visibility in posts if visibility not in FOR_ANYBODY]
    if private:
        with transaction.atomic():
            record_each(by=by, action="view", target_type="Status", targets=private)
