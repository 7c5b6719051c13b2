"""Reads markers."""

from __future__ import annotations

from collections.abc import Sequence

from timelines.models import Marker


def load_markers(account_id: int, timelines: Sequence[str]) -> list[Marker]:
    """The account's markers of these timelines, of which there are two; unknown names are left out."""
    return list(Marker.objects.filter(account_id=account_id, timeline__one_of=timelines).order_by("timeline"))
