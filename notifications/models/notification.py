"""The notifications of local accounts, and their annual reports."""

from typing import Final

from django.db import models

from accounts.collections.models import Collection
from accounts.models import Account, SeveredAccount
from moderation.models import Report, Strike
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import NAME_LIMIT, OBJECT_LIMIT, WORD_LIMIT, lengths
from statuses.models import Status


class NotificationType(models.TextChoices):
    """Types of notifications (contract, behaviours section 13)."""

    MENTION = "mention"
    STATUS = "status"
    REBLOG = "reblog"
    FAVOURITE = "favourite"
    FOLLOW = "follow"
    FOLLOW_REQUEST = "follow_request"
    POLL = "poll"
    QUOTE = "quote"
    UPDATE = "update"
    QUOTED_UPDATE = "quoted_update"
    ADMIN_SIGN_UP = "admin.sign_up"
    ADMIN_REPORT = "admin.report"
    MODERATION_WARNING = "moderation_warning"
    SEVERED_RELATIONSHIPS = "severed_relationships"
    ADDED_TO_COLLECTION = "added_to_collection"
    COLLECTION_UPDATE = "collection_update"
    ANNUAL_REPORT = "annual_report"


MESSAGE_TYPES: Final = (NotificationType.MENTION, NotificationType.QUOTE)
"""Types of notifications that create a request when they are held; the request counts them (contract, behaviours section 13).
"""


class AnnualReport(models.Model):
    """The report of one year, requested by its owner at `requested_at`. `data` is None until the report is computed;
    `schema_version` names its structure (contract, entities "Annual reports").
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


class Notification(models.Model):
    """An action of `from_account` that concerns `account`.

    `cause` names the row that caused the notification (`favourite:12`) and is unique per recipient, so that an event that is
    handled twice notifies only once, and so that undoing an action finds its notifications. `filtered` notifications are held:
    they are not listed until the recipient accepts the sender.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="notifications", db_index=False)
    from_account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    type = models.TextField(choices=NotificationType.choices)
    status = models.ForeignKey(Status, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    report = models.ForeignKey(Report, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    strike = models.ForeignKey(Strike, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    severed = models.ForeignKey(SeveredAccount, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    collection = models.ForeignKey(Collection, null=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    annual_report = models.ForeignKey(
        AnnualReport, null=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    cause = models.TextField()
    group_key = models.TextField(null=True)
    filtered = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("notifications_notification_lengths", type=WORD_LIMIT, cause=NAME_LIMIT, group_key=NAME_LIMIT),
            models.UniqueConstraint(fields=["cause", "account"], name="notifications_cause"),
        ]
        indexes = [
            models.Index(fields=["account", "-id"], name="notifications_list", condition=models.Q(filtered=False)),
            models.Index(
                fields=["account", "type", "-id"], name="notifications_types", condition=models.Q(filtered=False)
            ),
            models.Index(fields=["account", "-id"], name="notifications_held", condition=models.Q(filtered=True)),
            models.Index(
                fields=["account", "from_account", "-id"],
                name="notifications_held_from",
                condition=models.Q(filtered=True),
            ),
            models.Index(
                fields=["account", "from_account", "-id"],
                name="notifications_held_messages",
                condition=models.Q(filtered=True, type__in=MESSAGE_TYPES),
            ),
            models.Index(fields=["account", "from_account", "-id"], name="notifications_pair"),
            models.Index(
                fields=["account", "group_key", "-id"],
                name="notifications_groups",
                condition=models.Q(group_key__isnull=False),
            ),
            models.Index(fields=["from_account"], name="notifications_from_account"),
            models.Index(fields=["status"], name="notifications_status", condition=models.Q(status__isnull=False)),
            models.Index(fields=["report"], name="notifications_report", condition=models.Q(report__isnull=False)),
            models.Index(fields=["strike"], name="notifications_strike", condition=models.Q(strike__isnull=False)),
            models.Index(fields=["severed"], name="notifications_severed", condition=models.Q(severed__isnull=False)),
            models.Index(
                fields=["collection"], name="notifications_collection", condition=models.Q(collection__isnull=False)
            ),
            models.Index(
                fields=["annual_report"], name="notifications_annual", condition=models.Q(annual_report__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} for {self.account_id}"
