"""Idempotency keys of posts."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from social.kernel.lengths import NAME_LIMIT, lengths
from statuses.models.scheduled_status import ScheduledStatus
from statuses.models.status import Status


class IdempotencyKey(models.Model):
    """An `Idempotency-Key` of an account, remembered for an hour (contract, behaviours section 9), with the post that it
    made, or the scheduled post; a key without either names one that was deleted.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.TextField()
    status = models.ForeignKey(Status, null=True, on_delete=models.CASCADE, related_name="+")
    scheduled = models.ForeignKey(ScheduledStatus, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("statuses_idempotencykey_lengths", key=NAME_LIMIT),
            models.UniqueConstraint(fields=["account", "key"], name="statuses_idempotency_key"),
        ]
        indexes = [models.Index(fields=["created_at"], name="statuses_idempotency_age")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.key}"
