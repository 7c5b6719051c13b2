"""Bookmarks: who has bookmarked which post."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from statuses.models.status import Status


class Bookmark(models.Model):
    """`account` has bookmarked `status`, once; never a boost, always the post that was boosted. Nobody else learns of it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="bookmarks", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="bookmarks")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "status"], name="statuses_bookmark_pair")]
        indexes = [models.Index(fields=["account", "-id"], name="statuses_bookmark_account")]

    def __str__(self) -> str:
        return f"{self.account_id} bookmarks {self.status_id}"
