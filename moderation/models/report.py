"""Reports: what people report to the staff of this server."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths

COMMENT_LIMIT = 1000
# A received Flag's comment is cut at this many characters (contract, federation section 6).
REMOTE_COMMENT_LIMIT = 5000


class ReportCategory(models.TextChoices):
    """What somebody is reported for (contract, entities "Report")."""

    SPAM = "spam"
    LEGAL = "legal"
    VIOLATION = "violation"
    OTHER = "other"


class Report(models.Model):
    """`account` reports `target_account`; resolved when `action_taken_at` is set.

    `status_ids`, `rule_ids` and `collection_ids` are what the reporter attached. They are kept as ids: a post that is
    deleted later is still named. `rule_ids` is None when no rule was named. `uri` is None for reports made here; the
    account of a report from another server is its instance actor. `forward_domains` are the servers that a forwarded report
    is sent to.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="reports", db_index=False)
    target_account = models.ForeignKey(
        Account, on_delete=models.CASCADE, related_name="targeted_reports", db_index=False
    )
    uri = models.TextField(null=True)
    category = models.TextField(choices=ReportCategory.choices, default=ReportCategory.OTHER)
    comment = models.TextField(default="")
    forwarded = models.BooleanField(default=False)
    forward_domains = ArrayField(models.TextField(), default=list)
    status_ids = ArrayField(models.BigIntegerField(), default=list)
    rule_ids = ArrayField(models.BigIntegerField(), null=True)
    collection_ids = ArrayField(models.BigIntegerField(), default=list)
    assigned_account = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    action_taken_at = models.DateTimeField(null=True)
    action_taken_by = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        constraints = [
            lengths("moderation_report_lengths", uri=URI_LIMIT, category=WORD_LIMIT, forward_domains=OBJECT_LIMIT),
            models.UniqueConstraint(
                fields=["uri", "target_account"], name="moderation_report_uri", condition=Q(uri__isnull=False)
            ),
            models.CheckConstraint(
                condition=Q(comment__length__lte=REMOTE_COMMENT_LIMIT), name="moderation_report_length"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "-id"], name="moderation_report_account"),
            models.Index(fields=["target_account", "-id"], name="moderation_report_target"),
            models.Index(fields=["-id"], name="moderation_report_open", condition=Q(action_taken_at=None)),
        ]

    def __str__(self) -> str:
        return f"{self.id}"

    @property
    def is_resolved(self) -> bool:
        """Whether staff are done with it."""
        return self.action_taken_at is not None
