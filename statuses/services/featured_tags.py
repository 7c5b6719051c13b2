"""Shows a hashtag on a profile, with the number of posts that carry it already."""

from __future__ import annotations

from django.db import transaction

from accounts.models import Account, FeaturedTag
from accounts.services.tags import feature_tag, set_use
from statuses.queries.tags import load_use


def feature_used_tag(*, account: Account, name: str) -> FeaturedTag:
    """Show a hashtag on one's profile, counted from one's posts. Raises Invalid (`accounts.services.tags`)."""
    with transaction.atomic():
        featured, is_new = feature_tag(account=account, name=name)
        if is_new:
            count, last = load_use(account.id, featured.tag_id)
            set_use(featured, statuses_count=count, last_status_at=last)
    return featured
