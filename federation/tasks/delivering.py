"""Sends what is due when somebody says that something may be."""

from __future__ import annotations

from collections.abc import Sequence

from federation.events import DeliveriesDue
from federation.outbound.delivering import deliver_due


def deliver(events: Sequence[DeliveriesDue]) -> None:
    """One slice of deliveries, however many asked for it; queue "deliveries"."""
    deliver_due()
