"""Evidence files about accounts, requested by staff."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, WORD_LIMIT, lengths


class EvidenceState(models.TextChoices):
    """States of an evidence file."""

    BUILDING = "building", _("Being written")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")


class EvidenceFile(models.Model):
    """A zip about `account`, requested by `author` (None: deleted) under the name `author_name`; kept until `expires_at`.

    `error` is the reason why the file could not be written.
    """

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
