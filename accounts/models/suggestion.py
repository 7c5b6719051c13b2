"""Which suggested accounts somebody does not want to be shown again."""

from __future__ import annotations

from django.db import models

from accounts.models.account import Account
from social.kernel import clock


class DismissedSuggestion(models.Model):
    """`account` has said no to `target`, for good."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "target"], name="accounts_dismissed_pair")]

    def __str__(self) -> str:
        return f"{self.account_id} - {self.target_id}"
