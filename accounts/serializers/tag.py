"""Knows the entity "Tag" (contract, entities)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, time
from typing import Any

from accounts.models import Tag
from accounts.queries.tags import DayOfUse
from social.kernel import links


def tag_entity(
    tag: Tag, history: Sequence[DayOfUse], *, followed: Collection[int] = (), featured: Collection[int] = ()
) -> dict[str, Any]:
    """A hashtag as a signed-in viewer sees it; `followed` and `featured` are ids of the viewer's own hashtags."""
    return {
        "id": str(tag.id),
        "name": tag.display_name,
        "url": links.tag_url(tag.name),
        "history": [
            {
                "day": str(int(datetime.combine(use.day, time(), UTC).timestamp())),
                "accounts": str(use.accounts),
                "uses": str(use.uses),
            }
            for use in history
        ],
        "following": tag.id in followed,
        "featuring": tag.id in featured,
    }
