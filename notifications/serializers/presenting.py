"""How notifications become entities: one way for REST and streaming."""

from __future__ import annotations

from typing import Any

from accounts.serializers.presenting import present_cards
from moderation.serializers.report import ReportSerializer
from moderation.serializers.strike import StrikeSerializer
from notifications.queries.page import NotificationPage
from notifications.serializers.notification import NotificationSerializer
from statuses.serializers.presenting import present_by_id


def present(page: NotificationPage) -> list[dict[str, Any]]:
    """The entities of a page, in its order. A notification whose post the recipient may no longer read is left out."""
    statuses = present_by_id(page.statuses)
    shown = [row for row in page.rows if row.status_id is None or row.status_id in statuses]
    accounts = present_cards(page.accounts)
    about = {"accounts": accounts, "appeals": page.appeals}
    context = {
        "accounts": accounts,
        "statuses": statuses,
        "reports": {number: ReportSerializer(report, context=about).data for number, report in page.reports.items()},
        "strikes": {number: StrikeSerializer(strike, context=about).data for number, strike in page.strikes.items()},
    }
    entities: list[dict[str, Any]] = NotificationSerializer(shown, many=True, context=context).data
    return entities
