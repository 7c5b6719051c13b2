"""Knows which posts have been asked for already."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from statuses.models.status import Status


class IdempotencyKey(models.Model):
    """An `Idempotency-Key` of an account, remembered for an hour (contract, behaviours section 9)."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.TextField()
    status = models.ForeignKey(Status, null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "key"], name="statuses_idempotency_key")]
        indexes = [models.Index(fields=["created_at"], name="statuses_idempotency_age")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.key}"
