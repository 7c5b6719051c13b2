"""Fetches what is due when somebody says that something may be."""

from __future__ import annotations

from collections.abc import Sequence

from federation.events import FetchesDue
from federation.inbound.fetching import fetch_due


def fetch(events: Sequence[FetchesDue]) -> None:
    """One slice of fetches, however many asked for it; queue "fetches"."""
    fetch_due()
