"""Files attached to posts, or waiting to be attached."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import NAME_LIMIT, PATH_LIMIT, URI_LIMIT, WORD_LIMIT, lengths
from statuses.models.status import Status

DESCRIPTION_LIMIT = 10_000
META_LIMIT = 10_000


class MediaType(models.TextChoices):
    """The types of the entity "MediaAttachment"."""

    IMAGE = "image"
    GIFV = "gifv"
    VIDEO = "video"
    AUDIO = "audio"
    UNKNOWN = "unknown"


class Processing(models.TextChoices):
    """How far the server has come with a file; what is not complete has no address."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class MediaAttachment(models.Model):
    """One file of an account. Without `status` it waits to be attached, for a day from `unattached_at`, unless it has a
    `former_status`: an edit has taken it out of that post, whose earlier versions show it, and no other post can have it.

    `file` and `preview` are paths in the media storage, empty while there is no copy; `meta` is the entity's own
    (`original`, `small`, `focus`). `position` is the author's order within the post. Until it is processed `source` is
    the path of the file as it was sent, which is never served, and `content_type` is what that file is; `attempts` is
    how often processing has begun.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="media")
    status = models.ForeignKey(Status, null=True, on_delete=models.SET_NULL, related_name="media", db_index=False)
    former_status = models.ForeignKey(
        Status, null=True, on_delete=models.SET_NULL, related_name="former_media", db_index=False
    )
    position = models.PositiveSmallIntegerField(default=0)
    type = models.TextField(choices=MediaType.choices)
    processing = models.TextField(choices=Processing.choices, default=Processing.COMPLETE)
    content_type = models.TextField(default="")
    file = models.TextField(default="")
    file_size = models.BigIntegerField(default=0)
    preview = models.TextField(default="")
    preview_size = models.BigIntegerField(default=0)
    source = models.TextField(default="")
    attempts = models.PositiveSmallIntegerField(default=0)
    remote_url = models.TextField(null=True)
    preview_remote_url = models.TextField(null=True)
    meta = models.JSONField(default=dict)
    description = models.TextField(null=True)
    blurhash = models.TextField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    unattached_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "statuses_mediaattachment_lengths",
                type=WORD_LIMIT,
                processing=WORD_LIMIT,
                content_type=NAME_LIMIT,
                file=PATH_LIMIT,
                preview=PATH_LIMIT,
                source=PATH_LIMIT,
                remote_url=URI_LIMIT,
                preview_remote_url=URI_LIMIT,
                meta=META_LIMIT,
                blurhash=NAME_LIMIT,
            ),
            models.CheckConstraint(
                condition=Q(description__isnull=True) | Q(description__length__lte=DESCRIPTION_LIMIT),
                name="statuses_media_description",
            ),
        ]
        indexes = [
            models.Index(
                fields=["status", "position"], name="statuses_media_status", condition=Q(status__isnull=False)
            ),
            models.Index(
                fields=["former_status"], name="statuses_media_former", condition=Q(former_status__isnull=False)
            ),
            models.Index(
                fields=["unattached_at"],
                name="statuses_media_unattached",
                condition=Q(status=None, former_status=None),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"

    @property
    def paths(self) -> tuple[str, ...]:
        """The stored files that are its own."""
        return tuple(path for path in (self.file, self.preview, self.source) if path)
