"""Which of their own posts authors may have deleted by themselves, and when."""

from __future__ import annotations

from typing import Final

AGES: Final = (7, 14, 30, 60, 90, 180, 365, 730)
"""Days after which posts may be deleted."""

LARGEST: Final = 1_000_000
"""The highest number of favourites or boosts that may be asked for."""
