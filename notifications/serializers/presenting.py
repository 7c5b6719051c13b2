"""Knows how notifications become entities: one way for REST and streaming."""

from __future__ import annotations

from typing import Any

from accounts.serializers.presenting import present_cards
from notifications.queries.page import NotificationPage
from notifications.serializers.notification import represent
from statuses.serializers.presenting import present_by_id


def present(page: NotificationPage) -> list[dict[str, Any]]:
    """The entities of a page, in its order."""
    return represent(page.rows, accounts=present_cards(page.accounts), statuses=present_by_id(page.statuses))
