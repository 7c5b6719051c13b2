"""Knows the entity "FeaturedTag" (contract, entities; one shape everywhere: SEED-079)."""

from __future__ import annotations

from typing import Any

from accounts.models import Account, FeaturedTag
from social.kernel import links


def featured_tag_entity(featured: FeaturedTag, account: Account) -> dict[str, Any]:
    """A hashtag on the account's profile; the count is a string. Needs `tag` loaded."""
    last = featured.last_status_at
    return {
        "id": str(featured.id),
        "name": featured.name,
        "url": links.tagged_url(account.page_url, featured.tag.name),
        "statuses_count": str(featured.statuses_count),
        "last_status_at": None if last is None else last.date().isoformat(),
    }
