"""Models of scheduled posts, automatic deletion of old posts, and idempotency keys."""

from django.db import models

from accounts.models import Account, Application
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import NAME_LIMIT, OBJECT_LIMIT, lengths
from statuses.models.attachments import MediaAttachment
from statuses.models.status import Status


class ScheduledStatus(models.Model):
    """A post of `account` to be published at `scheduled_at`. `draft` is a serialised `Draft`, saved at `created_at`."""

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


class ScheduledMedia(models.Model):
    """A file of a scheduled post: no other post can attach it, and it is stored as long as the post is scheduled."""

    scheduled = models.ForeignKey(ScheduledStatus, on_delete=models.CASCADE, related_name="media")
    media = models.OneToOneField(MediaAttachment, on_delete=models.CASCADE, related_name="scheduled")
    position = models.SmallIntegerField()


class IdempotencyKey(models.Model):
    """An `Idempotency-Key`, which is stored for an hour, and the post or scheduled post that was created with it, if that still
    exists.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.TextField()
    status = models.ForeignKey(Status, null=True, on_delete=models.CASCADE, related_name="+")
    scheduled = models.ForeignKey(ScheduledStatus, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("statuses_idempotencykey_lengths", key=NAME_LIMIT),
            models.UniqueConstraint(fields=["account", "key"], name="statuses_idempotency_key"),
        ]
        indexes = [models.Index(fields=["created_at"], name="statuses_idempotency_age")]


class RetentionPolicy(models.Model):
    """Automatic deletion of `account`'s posts and boosts older than `min_age` days. There are exceptions, such as posts with at
    least `min_favourites` favourites or `min_reblogs` boosts (None: no such exception). The next check is due at `due_at`, and
    begins after the post `after_id`.
    """

    account = models.OneToOneField(Account, primary_key=True, on_delete=models.CASCADE, related_name="retention")
    enabled = models.BooleanField(default=False)
    min_age = models.PositiveSmallIntegerField(default=14)
    keep_pinned = models.BooleanField(default=True)
    keep_direct = models.BooleanField(default=True)
    keep_favourited = models.BooleanField(default=True)
    keep_bookmarked = models.BooleanField(default=True)
    keep_media = models.BooleanField(default=False)
    keep_polls = models.BooleanField(default=False)
    min_favourites = models.PositiveIntegerField(null=True)
    min_reblogs = models.PositiveIntegerField(null=True)
    due_at = models.DateTimeField(default=clock.now)
    after_id = models.BigIntegerField(default=0)

    class Meta:
        indexes = [
            models.Index(fields=["due_at"], name="statuses_retention_due", condition=models.Q(enabled=True)),
        ]
