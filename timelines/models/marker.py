"""Markers: how far somebody has read (contract, entities "Marker")."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models import Account
from social.kernel import clock
from social.kernel.lengths import WORD_LIMIT, lengths


class Timeline(models.TextChoices):
    """What has a marker."""

    HOME = "home"
    NOTIFICATIONS = "notifications"


class Marker(models.Model):
    """The last item that `account` has read of a timeline; `version` grows by one with every change."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    timeline = models.TextField(choices=Timeline.choices)
    last_read_id = models.BigIntegerField()
    version = models.BigIntegerField(default=1)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_marker_lengths", timeline=WORD_LIMIT),
            models.UniqueConstraint(fields=["account", "timeline"], name="timelines_marker_pair"),
            models.CheckConstraint(condition=Q(last_read_id__gte=0), name="timelines_marker_last_read_id"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} {self.timeline}: {self.last_read_id}"
