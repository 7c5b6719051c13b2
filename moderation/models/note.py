"""Notes of staff about an account, visible to staff only."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField

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
