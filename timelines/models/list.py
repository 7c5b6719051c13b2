"""Lists: the people somebody reads apart from the home timeline (contract, parameters "Lists")."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import WORD_LIMIT, lengths

TITLE_LIMIT = 256
LISTS_LIMIT = 50


class RepliesPolicy(models.TextChoices):
    """Which answers to others a list shows: to members, to anybody the owner follows, or none."""

    LIST = "list"
    FOLLOWED = "followed"
    NONE = "none"


class List(models.Model):
    """A list of its owner, `account`. `exclusive`: posts of its members are not in the owner's home timeline.

    `absent`: the owner has not been here for days (`timelines.services.presence`).
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    title = models.TextField()
    replies_policy = models.TextField(choices=RepliesPolicy.choices, default=RepliesPolicy.LIST)
    exclusive = models.BooleanField(default=False)
    absent = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_list_lengths", replies_policy=WORD_LIMIT),
            models.CheckConstraint(condition=Q(title__length__lte=TITLE_LIMIT), name="timelines_list_title_length"),
        ]
        indexes = [
            models.Index(fields=["account", "id"], name="timelines_list_account"),
            models.Index(fields=["account"], name="timelines_list_active", condition=Q(absent=False)),
        ]

    def __str__(self) -> str:
        return self.title


class ListMember(models.Model):
    """`account` is in the list. Its owner follows it, has asked to, or is it: without that its posts are not shown.

    `absent` is the list's: nobody pays for lists whose owners are away.
    """

    list = models.ForeignKey(List, on_delete=models.CASCADE, related_name="members", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    absent = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["list", "account"], name="timelines_listmember_pair")]
        indexes = [
            models.Index(fields=["account", "list"], name="timelines_listmember_account"),
            models.Index(fields=["account", "list"], name="timelines_listmember_reached", condition=Q(absent=False)),
        ]

    def __str__(self) -> str:
        return f"{self.list_id}: {self.account_id}"
