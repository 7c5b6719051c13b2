"""Who is mentioned in which post."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from statuses.models.status import Status


class Mention(models.Model):
    """An account addressed by a post; `silent` when it stands in the addressing but not in the text."""

    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mentions", db_index=False)
    silent = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["status", "account"], name="statuses_mention_pair")]
        indexes = [models.Index(fields=["account", "-status"], name="statuses_mention_account")]

    def __str__(self) -> str:
        return f"{self.status_id} @{self.account_id}"
