"""Decides which notifications have a fallback text for clients that do not know their type (contract, "Notification")."""

from collections.abc import Collection
from typing import Final

from notifications.models import NotificationType

BASELINE: Final = frozenset(
    {
        NotificationType.MENTION,
        NotificationType.STATUS,
        NotificationType.REBLOG,
        NotificationType.FOLLOW,
        NotificationType.FOLLOW_REQUEST,
        NotificationType.FAVOURITE,
        NotificationType.POLL,
        NotificationType.UPDATE,
        NotificationType.ANNUAL_REPORT,
        NotificationType.QUOTE,
        NotificationType.QUOTED_UPDATE,
    }
)
"""Types that every client of this API knows."""


def needs_fallback(type: str, supported: Collection[str] | None) -> bool:
    """Tell whether a client that knows only the types in `supported` needs a fallback. If `supported` is None, it gets none."""
    return supported is not None and type not in BASELINE and type not in supported
