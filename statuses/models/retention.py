"""What authors say of how long their posts are kept."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock


class RetentionPolicy(models.Model):
    """Posts and boosts of `account` that are older than `min_age` days are deleted, but those it keeps.

    `min_favourites` and `min_reblogs` keep posts with at least so many; None keeps none. `due_at` is when its posts are
    looked at next, beginning behind the post `after_id`.
    """

    account = models.OneToOneField(Account, primary_key=True, on_delete=models.CASCADE, related_name="retention")
    enabled = models.BooleanField(default=False)
    min_age = models.PositiveSmallIntegerField(default=14)
    keep_pinned = models.BooleanField(default=True)
    keep_direct = models.BooleanField(default=True)
    keep_favourited = models.BooleanField(default=True)
    keep_bookmarked = models.BooleanField(default=True)
    keep_media = models.BooleanField(default=False)
    keep_polls = models.BooleanField(default=False)
    min_favourites = models.PositiveIntegerField(null=True)
    min_reblogs = models.PositiveIntegerField(null=True)
    due_at = models.DateTimeField(default=clock.now)
    after_id = models.BigIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="statuses_retention_due", condition=models.Q(enabled=True)),
        ]

    def __str__(self) -> str:
        return f"{self.account_id}: {self.min_age}"
