"""Who likes which post."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from social.kernel.lengths import URI_LIMIT, lengths
from statuses.models.status import Status


class Favourite(models.Model):
    """`account` likes `status`, once; never a boost, always the post that was boosted.

    `uri` is the id of the remote Like that made it; NULL for ours, which follows from the row's id.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="favourites", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="favourites", db_index=False)
    uri = models.TextField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("statuses_favourite_lengths", uri=URI_LIMIT),
            models.UniqueConstraint(fields=["account", "status"], name="statuses_favourite_pair"),
            models.UniqueConstraint(
                fields=["uri"], name="statuses_favourite_uri", condition=models.Q(uri__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["status", "-id"], name="statuses_favourite_status"),
            models.Index(fields=["account", "-id"], name="statuses_favourite_account"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} * {self.status_id}"
