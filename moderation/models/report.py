"""Reports to staff, decisions and notes of staff about accounts, strikes, appeals against strikes, and evidence files."""

from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from accounts.spam.models import SpamRule
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths

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

    `status_ids`, `rule_ids` and `collection_ids` are the ids of the attached posts, rules and collections. The ids are not
    foreign keys, so that a report still names a post that was deleted later. `rule_ids` is None when no rule was named. `uri`
    is None for local reports; the account of a report from another server is its instance actor. `forward_domains` are the
    servers to which a forwarded report is sent. `spam_rule` is the spam rule that made the report; `account` is then the
    server's own account, as it is after the account of the reporter was deleted.
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

    `status_ids` are the posts that the action concerned; None for an action on the whole account. `overruled_at` is the time
    when the action was undone or an appeal was accepted; None while the strike is in force. `spam_rule` is the rule that acted
    automatically, None if a person acted. `statement` is the statement of reasons that the person got
    (`moderation.policies.statements`); empty for strikes of earlier releases.
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
    """An appeal against a strike. A strike can be appealed once, within APPEAL_PERIOD."""

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


UNDO_PERIOD = timedelta(minutes=10)


class Decision(models.Model):
    """A decision of `account` (None: the operator) about `target_account`; `acts` are names from
    `moderation.services.decisions.ACTS`. The decision can be undone until `ends_at`; undoing sets `undone_at`. A decision that
    only assigns a report or adds a note cannot be undone. `report_ids` are the reports that the decision settled, `strike_ids`
    are the strikes that it issued, and `status_ids` are the posts to delete when it can no longer be undone.
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
        """Tell whether the decision is of a kind that can be undone, even if it is too late now."""
        return self.ends_at > self.created_at


NOTE_LIMIT = 2000


class StaffNote(models.Model):
    """A note about an account by `author`, a member of staff (None when the author's account is deleted), for colleagues."""

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="staff_notes", db_index=False)
    author = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("note")
        verbose_name_plural = _("notes")
        constraints = [
            models.CheckConstraint(condition=Q(text__length__lte=NOTE_LIMIT), name="moderation_staffnote_length"),
        ]
        indexes = [models.Index(fields=["account", "-id"], name="moderation_staffnote_account")]


class EvidenceState(models.TextChoices):
    BUILDING = "building", _("Being written")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")


class EvidenceFile(models.Model):
    """A zip about `account`, requested by `author` (None: account deleted). `error` is the reason why it was not written."""

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    author = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    author_name = models.TextField()
    reason = models.TextField()
    state = models.TextField(choices=EvidenceState.choices, default=EvidenceState.BUILDING)
    error = models.TextField(default="")
    sha256 = models.TextField(default="")
    size = models.BigIntegerField(null=True)
    posts = models.IntegerField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("evidence file")
        verbose_name_plural = _("evidence files")
        constraints = [
            lengths(
                "moderation_evidencefile_lengths",
                author_name=NAME_LIMIT,
                reason=MESSAGE_LIMIT,
                state=WORD_LIMIT,
                error=MESSAGE_LIMIT,
                sha256=WORD_LIMIT,
            )
        ]

    def __str__(self) -> str:
        return f"@{self.account.acct}"
