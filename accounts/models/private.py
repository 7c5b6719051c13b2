"""What somebody keeps about other people: notes for their own eyes, and endorsements on their profile."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models.account import Account
from social.kernel import clock

COMMENT_LIMIT = 2000


class AccountNote(models.Model):
    """What `account` has written down about `target`; nobody else sees it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="notes_written", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    comment = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "target"], name="accounts_note_pair"),
            models.CheckConstraint(condition=Q(comment__length__lte=COMMENT_LIMIT), name="accounts_note_length"),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} on {self.target_id}"


class Endorsement(models.Model):
    """`account`, a follower of `target`, recommends it on their profile."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="endorsements", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "target"], name="accounts_endorsement_pair")]

    def __str__(self) -> str:
        return f"{self.account_id} + {self.target_id}"
