"""Staff look at posts that anybody may read, and remove them."""

from __future__ import annotations

from statuses.admin.statuses import StatusAdmin

__all__ = ["StatusAdmin"]
