"""Who has blocked or muted whom, and whose servers."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.lengths import HOST_LIMIT, URI_LIMIT, lengths


class Block(models.Model):
    """`account` wants nothing to do with `target`, and cannot be seen by it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="blocked_by", db_index=False)
    uri = models.TextField(null=True, unique=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_block_lengths", uri=URI_LIMIT),
            models.UniqueConstraint(fields=["account", "target"], name="accounts_block_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_block_not_self"),
        ]
        indexes = [models.Index(fields=["target"], name="accounts_block_target")]

    def __str__(self) -> str:
        return f"{self.account_id} x {self.target_id}"


class Mute(models.Model):
    """`account` does not want to see `target`; an expired mute no longer counts, whether its row is cleaned or not."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mutes", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="muted_by", db_index=False)
    hide_notifications = models.BooleanField(default=True)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "target"], name="accounts_mute_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_mute_not_self"),
        ]
        indexes = [
            models.Index(fields=["target"], name="accounts_mute_target"),
            models.Index(fields=["expires_at"], name="accounts_mute_expiry", condition=Q(expires_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} - {self.target_id}"


class AccountDomainBlock(models.Model):
    """`account` wants nothing to do with the people of another server, by its lower-case Punycode name."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="domain_blocks", db_index=False)
    domain = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_accountdomainblock_lengths", domain=HOST_LIMIT),
            models.UniqueConstraint(fields=["account", "domain"], name="accounts_domainblock_pair"),
            models.CheckConstraint(condition=Q(domain=Lower("domain")), name="accounts_domainblock_lower_case"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} x {self.domain}"
