"""Features hashtags on profiles of local accounts, counting posts, and stores the featured hashtags of remote accounts."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from django.db import transaction

from accounts.models import Account, FeaturedTag
from accounts.services.tags import feature_tag, set_use
from social.kernel.errors import Invalid
from social.kernel.locks import lock
from social.kernel.text.names import normalise_hashtag
from statuses.queries.tags import load_use


def feature_used_tag(*, account: Account, name: str) -> FeaturedTag:
    """Feature a hashtag on the account's profile, with the count of its existing posts. Raises Invalid like `feature_tag`."""
    with transaction.atomic():
        featured, is_new = feature_tag(account=account, name=name)
        if is_new:
            count, last = load_use(account.id, featured.tag_id)
            set_use(featured, statuses_count=count, last_status_at=last)
    return featured


def keep_featured_tags(*, account: Account, names: Sequence[str]) -> None:
    """Replace the featured hashtags of a remote account by `names`, without invalid names and names beyond the limit."""
    with transaction.atomic():
        lock(f"featured_tags:{account.id}")
        tag_names = {normalise_hashtag(name.removeprefix("#")) for name in names}
        FeaturedTag.objects.filter(account=account).exclude(tag__name__one_of=tag_names).delete()
        for name in names:
            with contextlib.suppress(Invalid):
                feature_used_tag(account=account, name=name)
