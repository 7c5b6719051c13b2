"""The hashtags that people show on their profiles."""

from __future__ import annotations

from django.db import models

from accounts.models.account import Account
from accounts.models.tag import TAG_LIMIT, Tag
from social.kernel import clock
from social.kernel.lengths import lengths

FEATURED_TAGS_LIMIT = 10


class FeaturedTag(models.Model):
    """A hashtag on a profile, with how often and when the account last used it in public or unlisted posts."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="featured_tags", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+")
    name = models.TextField()
    statuses_count = models.BigIntegerField(default=0)
    last_status_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_featuredtag_lengths", name=TAG_LIMIT),
            models.UniqueConstraint(fields=["account", "tag"], name="accounts_featuredtag_pair"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} #{self.name}"
