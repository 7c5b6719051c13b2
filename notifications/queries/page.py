"""Reads what a page of notifications shows, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from accounts.queries.cards import Cards, load_cards
from moderation.models import Appeal, Report, Strike
from moderation.queries.reports import load_reports
from moderation.queries.strikes import load_appeals, load_strikes
from notifications.queries.listing import ListedNotification
from statuses.queries.page import Page, hydrate


@dataclass(frozen=True)
class NotificationPage:
    """Rows with their senders, the posts the recipient may read, and the reports and strikes they are about."""

    rows: Sequence[ListedNotification]
    accounts: Cards
    statuses: Page
    reports: Mapping[int, Report]
    strikes: Mapping[int, Strike]
    appeals: Mapping[int, Appeal]


def load_page(rows: Sequence[ListedNotification], viewer_id: int) -> NotificationPage:
    """Everything the entities of these rows need: at most eight queries, whatever their number, and where there are any
    one for reports and two for strikes.
    """
    reports = load_reports({row.report_id for row in rows if row.report_id is not None})
    strikes = load_strikes({row.strike_id for row in rows if row.strike_id is not None})
    people = {row.from_account_id for row in rows}
    people.update(report.target_account_id for report in reports.values())
    people.update(strike.target_account_id for strike in strikes.values())
    accounts = load_cards(people, viewer_id)
    statuses = hydrate(dict.fromkeys(row.status_id for row in rows if row.status_id is not None), viewer_id)
    return NotificationPage(rows, accounts, statuses, reports, strikes, load_appeals(strikes.keys()))
