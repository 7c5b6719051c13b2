"""Reports about the activity of a local account in a year."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from social.kernel.lengths import OBJECT_LIMIT, lengths


class AnnualReport(models.Model):
    """The report of one year, requested by its owner at `requested_at`.

    `schema_version` says how `data` is structured (contract, entities "Annual reports"); `data` is None until the report is
    computed.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    year = models.SmallIntegerField()
    schema_version = models.SmallIntegerField()
    data = models.JSONField(null=True)
    requested_at = models.DateTimeField(default=clock.now)
    read_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            lengths("notifications_annualreport_lengths", data=OBJECT_LIMIT),
            models.UniqueConstraint(fields=["account", "year"], name="notifications_annualreport_year"),
        ]

    def __str__(self) -> str:
        return f"{self.year} of {self.account_id}"
