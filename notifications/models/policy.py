"""Policies for notifications, senders accepted in spite of a policy, and requests from senders whose messages are held."""

from typing import Final

from django.db import models
from django.db.models import Q

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import WORD_LIMIT, lengths
from statuses.models import Status


class Handling(models.TextChoices):
    """Handling of notifications from one kind of sender: they are delivered, held, or not created."""

    ACCEPT = "accept"
    FILTER = "filter"
    DROP = "drop"


POLICY_COLUMNS: Final = (
    "for_not_following",
    "for_not_followers",
    "for_new_accounts",
    "for_private_mentions",
    "for_limited_accounts",
    "for_bots",
)


class NotificationPolicy(models.Model):
    """The policy of the local account `account`. An account without a row has the default policy (contract, entities)."""

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="notification_policy"
    )
    for_not_following = models.TextField(choices=Handling.choices, default=Handling.ACCEPT)
    for_not_followers = models.TextField(choices=Handling.choices, default=Handling.ACCEPT)
    for_new_accounts = models.TextField(choices=Handling.choices, default=Handling.ACCEPT)
    for_private_mentions = models.TextField(choices=Handling.choices, default=Handling.FILTER)
    for_limited_accounts = models.TextField(choices=Handling.choices, default=Handling.FILTER)
    for_bots = models.TextField(choices=Handling.choices, default=Handling.ACCEPT)

    class Meta:
        constraints = [lengths("notifications_notificationpolicy_lengths", **dict.fromkeys(POLICY_COLUMNS, WORD_LIMIT))]

    def __str__(self) -> str:
        return f"{self.account_id}"


class NotificationPermission(models.Model):
    """`account` has accepted a request of `from_account`, so the policy of `account` no longer applies to `from_account`.
    `merging`: the sender's held notifications are still being delivered.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    from_account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    merging = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "from_account"], name="notifications_permission_pair")
        ]
        indexes = [
            models.Index(fields=["from_account"], name="notifications_permission_from"),
            models.Index(fields=["account"], name="notifications_permission_merge", condition=Q(merging=True)),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} < {self.from_account_id}"


class NotificationRequest(models.Model):
    """A request of `from_account`, whose messages to `account` are held until the request is accepted or dismissed.
    `notifications_count` counts the held messages up to REQUEST_COUNT_LIMIT; `last_status` is the post of the newest message.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    from_account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    last_status = models.ForeignKey(Status, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    notifications_count = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "from_account"], name="notifications_request_pair")]
        indexes = [
            models.Index(fields=["account", "-id"], name="notifications_request_list"),
            models.Index(fields=["from_account"], name="notifications_request_from"),
            models.Index(
                fields=["last_status"], name="notifications_request_status", condition=Q(last_status__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} ? {self.from_account_id}"


REQUEST_COUNT_LIMIT: Final = 100
"""Maximum number of held notifications that a request counts, and of requests that a policy's summary counts (contract,
entities).
"""
