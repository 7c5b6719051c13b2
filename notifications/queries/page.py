"""Reads what a page of notifications shows, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.queries.cards import Cards, load_cards
from notifications.models import Notification
from statuses.queries.page import Page, hydrate


@dataclass(frozen=True)
class NotificationPage:
    """Rows with their senders and the posts the recipient may read."""

    rows: Sequence[Notification]
    accounts: Cards
    statuses: Page


def load_page(rows: Sequence[Notification], viewer_id: int) -> NotificationPage:
    """Everything the entities of these rows need: at most eight queries, whatever their number."""
    accounts = load_cards((row.from_account_id for row in rows), viewer_id)
    statuses = hydrate(dict.fromkeys(row.status_id for row in rows if row.status_id is not None), viewer_id)
    return NotificationPage(rows, accounts, statuses)
