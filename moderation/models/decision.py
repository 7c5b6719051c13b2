"""Decisions of staff about reported accounts, which can be undone for a while."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, lengths

UNDO_PERIOD = timedelta(minutes=10)


class Decision(models.Model):
    """A decision of `account` (None: the operator) about `target_account`; `acts` are names from
    `moderation.services.decisions.ACTS`. It can be undone until `ends_at`; undoing it sets `undone_at`. A decision that only
    assigns a report or adds a note cannot be undone. `report_ids` are the reports that it settled, `strike_ids` the strikes
    that it issued, and `status_ids` the posts that are deleted when it can no longer be undone.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    target_account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    acts = ArrayField(models.TextField())
    text = models.TextField(default="")
    report_ids = ArrayField(models.BigIntegerField(), default=list)
    strike_ids = ArrayField(models.BigIntegerField(), default=list)
    status_ids = ArrayField(models.BigIntegerField(), default=list)
    created_at = models.DateTimeField(default=clock.now)
    ends_at = models.DateTimeField()
    undone_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        constraints = [lengths("moderation_decision_lengths", acts=OBJECT_LIMIT, text=OBJECT_LIMIT)]
        indexes = [models.Index(fields=["target_account", "-id"], name="moderation_decision_target")]

    def __str__(self) -> str:
        return f"{self.id}"

    @property
    def can_be_undone(self) -> bool:
        """Tell whether the decision is of a kind that can be undone, even if it is too late to do so now."""
        return self.ends_at > self.created_at
