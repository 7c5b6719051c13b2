"""The words by which people say who may quote their posts (contract, parameters section 2 and 3)."""

from __future__ import annotations

from typing import Final

ANYBODY: Final = "public"
FOLLOWERS: Final = "followers"
NOBODY: Final = "nobody"

QUOTE_POLICIES: Final = (ANYBODY, FOLLOWERS, NOBODY)
"""What a person may choose, for a post or for all posts to come."""
