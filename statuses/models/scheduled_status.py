"""Posts that are to be published at a time to come, and the files that wait with them."""

from __future__ import annotations

from django.db import models

from accounts.models import Account, Application
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, lengths
from statuses.models.media import MediaAttachment


class ScheduledStatus(models.Model):
    """A post of `account` for `scheduled_at`. `draft` is what it is composed of: a `StatusDraft` as an object."""

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="scheduled_statuses", db_index=False)
    scheduled_at = models.DateTimeField()
    draft = models.JSONField()
    application = models.ForeignKey(Application, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [lengths("statuses_scheduledstatus_lengths", draft=OBJECT_LIMIT)]
        indexes = [
            models.Index(fields=["account", "-id"], name="statuses_scheduled_account"),
            models.Index(
                fields=["application"],
                name="statuses_scheduled_application",
                condition=models.Q(application__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}"


class ScheduledMedia(models.Model):
    """A file that belongs to a scheduled post: it can be attached to no other one, and waits as long as the post does."""

    scheduled = models.ForeignKey(ScheduledStatus, on_delete=models.CASCADE, related_name="media")
    media = models.OneToOneField(MediaAttachment, on_delete=models.CASCADE, related_name="scheduled")
    position = models.SmallIntegerField()

    def __str__(self) -> str:
        return f"{self.scheduled_id} {self.media_id}"
