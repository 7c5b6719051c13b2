"""Reports to the staff of this server, strikes issued because of them, and appeals against strikes."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from accounts.spam.models import SpamRule
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths

COMMENT_LIMIT = 1000

# The comment of a received Flag is cut to this many characters (contract, federation section 6).
REMOTE_COMMENT_LIMIT = 5000


class ReportCategory(models.TextChoices):
    """Categories of reports (contract, entities "Report")."""

    SPAM = "spam"
    LEGAL = "legal"
    VIOLATION = "violation"
    OTHER = "other"


class Report(models.Model):
    """A report of `account` about `target_account`; resolved when `action_taken_at` is set.

    `status_ids`, `rule_ids` and `collection_ids` are the ids of the attached posts, rules and collections. They are not
    foreign keys, so that a report still names a post that was deleted later. `rule_ids` is None when no rule was named. `uri`
    is None for local reports; the account of a report from another server is its instance actor. `forward_domains` are the
    servers to which a forwarded report is sent. `spam_rule` is the spam rule that made the report; `account` is then the
    server's own account.
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
    spam_rule = models.ForeignKey(SpamRule, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
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
            models.Index(
                fields=["spam_rule", "target_account"],
                name="moderation_report_rule",
                condition=Q(spam_rule__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}"

    @property
    def is_resolved(self) -> bool:
        """Tell whether staff have settled the report."""
        return self.action_taken_at is not None


STRIKE_TEXT_LIMIT = 10_000
APPEAL_TEXT_LIMIT = 2000
APPEAL_PERIOD = timedelta(days=20)


class StrikeAction(models.TextChoices):
    """Actions of staff (contract, entities "AccountWarning")."""

    NONE = "none", _("warning")
    DISABLE = "disable", _("login disabled")
    MARK_STATUSES_AS_SENSITIVE = "mark_statuses_as_sensitive", _("posts marked as sensitive")
    DELETE_STATUSES = "delete_statuses", _("posts deleted")
    SENSITIVE = "sensitive", _("all media marked as sensitive")
    SILENCE = "silence", _("account limited")
    SUSPEND = "suspend", _("account suspended")


class Strike(models.Model):
    """An action of `account` (a member of staff; None: the operator) against `target_account`.

    `status_ids` are the posts that the action concerned, None if it concerned the account. `overruled_at` is set when an
    appeal against it was accepted. `spam_rule` is the rule that acted automatically, None if a person acted. `statement` is
    the statement of reasons as it was given (`moderation.policies.statements`); empty for strikes of earlier releases.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    target_account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="strikes", db_index=False)
    action = models.TextField(choices=StrikeAction.choices, default=StrikeAction.NONE)
    text = models.TextField(default="")
    report = models.ForeignKey(Report, null=True, on_delete=models.SET_NULL, related_name="strikes")
    status_ids = ArrayField(models.BigIntegerField(), null=True)
    spam_rule = models.ForeignKey(SpamRule, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    statement = models.JSONField(default=dict)
    overruled_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("strike")
        verbose_name_plural = _("strikes")
        constraints = [
            lengths("moderation_strike_lengths", action=WORD_LIMIT, statement=OBJECT_LIMIT),
            models.CheckConstraint(condition=Q(text__length__lte=STRIKE_TEXT_LIMIT), name="moderation_strike_length"),
        ]
        indexes = [
            models.Index(fields=["target_account", "-id"], name="moderation_strike_target"),
            models.Index(
                fields=["spam_rule", "-id"], name="moderation_strike_rule", condition=Q(spam_rule__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.target_account_id}"


class Appeal(models.Model):
    """An appeal of a person against a strike, one per strike, within APPEAL_PERIOD; accepted, rejected or pending."""

    id = SnowflakeField(primary_key=True)
    strike = models.OneToOneField(Strike, on_delete=models.CASCADE, related_name="appeal")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="appeals")
    text = models.TextField()
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("appeal")
        verbose_name_plural = _("appeals")
        constraints = [
            models.CheckConstraint(condition=Q(text__length__lte=APPEAL_TEXT_LIMIT), name="moderation_appeal_length"),
            models.CheckConstraint(
                condition=Q(approved_at=None) | Q(rejected_at=None), name="moderation_appeal_one_decision"
            ),
        ]
        indexes = [
            models.Index(fields=["-id"], name="moderation_appeal_open", condition=Q(approved_at=None, rejected_at=None))
        ]

    def __str__(self) -> str:
        return f"{self.strike_id}"

    @property
    def state(self) -> str:
        """Return the state as the API's entity names it: approved, rejected or pending."""
        if self.approved_at is not None:
            return "approved"
        return "rejected" if self.rejected_at is not None else "pending"
