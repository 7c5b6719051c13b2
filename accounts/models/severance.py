"""Which follows were ended from outside: somebody blocked a server, or staff ended relations with it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.lengths import ADDRESS_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, WORD_LIMIT, lengths


class SeveranceType(models.TextChoices):
    """What ended the follows."""

    DOMAIN_BLOCK = "domain_block"
    USER_DOMAIN_BLOCK = "user_domain_block"
    ACCOUNT_SUSPENSION = "account_suspension"


class Severance(models.Model):
    """One act that ended follows. `cause` identifies it: an act that is done in several steps has one row."""

    type = models.TextField(choices=SeveranceType.choices)
    target_name = models.TextField()
    cause = models.TextField(unique=True)
    purged = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_severance_lengths", type=WORD_LIMIT, target_name=ADDRESS_LIMIT, cause=NAME_LIMIT)
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.target_name}"


class SeveredAccount(models.Model):
    """What an act cost a local account: how many followers, and how many it followed."""

    severance = models.ForeignKey(Severance, on_delete=models.CASCADE, related_name="accounts", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="severances")
    followers_count = models.IntegerField(default=0)
    following_count = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["severance", "account"], name="accounts_severed_account")]

    def __str__(self) -> str:
        return f"{self.severance_id}: {self.account_id}"


class SeveredFollow(models.Model):
    """A follow that was ended, with its options, so that it can be made again by hand."""

    severance = models.ForeignKey(Severance, on_delete=models.CASCADE, related_name="follows", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    show_reblogs = models.BooleanField()
    notify = models.BooleanField()
    languages = ArrayField(models.TextField(), null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_severedfollow_lengths", languages=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["severance", "account", "target"], name="accounts_severed_follow"),
            models.CheckConstraint(condition=~models.Q(account=F("target")), name="accounts_severed_not_self"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} -> {self.target_id}"
