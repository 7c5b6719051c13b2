"""The codes with which people sign in who have lost their second factor."""

from __future__ import annotations

from django.db import models

from accounts.models.user import User
from social.kernel import clock


class RecoveryCode(models.Model):
    """A code that has not been used, as its SHA-256: the codes themselves (80 random bits) are shown once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="recovery_codes", db_index=False)
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "digest"], name="accounts_recovery_code")]

    def __str__(self) -> str:
        return f"of {self.user_id}"
