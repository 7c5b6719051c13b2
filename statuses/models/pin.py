"""Pinned posts: which of their own posts people show on their profiles."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from statuses.models.status import Status


class Pin(models.Model):
    """`status` is pinned to the profile of its author, `account`. The newest pin has the highest id."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="pins")
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="pin")
    created_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return f"{self.account_id} pins {self.status_id}"
