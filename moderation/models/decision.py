"""Decisions of staff about reported accounts, which can be taken back for a while."""

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
    """Record of what `account` (None: the operator) decided about `target_account`: words of
    `moderation.services.decisions.ACTS`.

    Until `ends_at` it can be taken back (`undone_at`); what changes nothing ends at once. `report_ids` are the reports that
    it has settled, `strike_ids` the strikes that it has given, and `status_ids` the posts that are deleted when it can no
    longer be taken back.
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
        """Tell whether there was a time in which it could be taken back."""
        return self.ends_at > self.created_at
