"""How much happened on this server in each week, kept because the rows that it is counted from change later."""

from __future__ import annotations

from django.db import models


class ActivityWeek(models.Model):
    """One week, from Monday 00:00 UTC. `counted_to` is the id of the last post that `statuses` counts."""

    start = models.DateField(primary_key=True)
    statuses = models.BigIntegerField(default=0)
    logins = models.BigIntegerField(default=0)
    registrations = models.BigIntegerField(default=0)
    counted_to = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.start}"
