"""Models of the media attachments and polls of posts."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Q

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import NAME_LIMIT, OBJECT_LIMIT, PATH_LIMIT, URI_LIMIT, WORD_LIMIT, lengths
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
    """Progress of processing a file; only a completely processed file has an address."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"


class MediaAttachment(models.Model):
    """Media file that an account has uploaded, or that belongs to a remote post.

    A file without `status` is unattached, and is deleted a day after `unattached_at`. A file with a `former_status` was removed
    by an edit: earlier versions of that post still show it, and no other post can attach it.

    `file` and `preview` are paths in the media storage, empty if this server has no copy. `source` is the path of the uploaded
    file, of type `content_type`, until it is processed; it is never served. `meta` is the member of the entity (`original`,
    `small`, `focus`), `position` the place in the post, `attempts` the number of times that processing has begun.
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
            HashIndex(fields=["remote_url"], name="statuses_media_remote", condition=Q(remote_url__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files that this attachment has in the media storage."""
        return tuple(path for path in (self.file, self.preview, self.source) if path)


# Maximum number of options of a remote poll; `statuses.policies.polls` has the limit for local polls.
OPTIONS_LIMIT = 500


class Poll(models.Model):
    """The poll of `status`. `tallies` are the numbers of votes for each of the `options`, `voters_count` is the number of
    voters, None if a remote poll does not report it. A remote poll may have no `expires_at`. At `announce_at`, new votes in a
    local poll are sent to other servers; `announce_at` is None if there are no new votes.
    """

    id = SnowflakeField(primary_key=True)
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="poll")
    options = ArrayField(models.TextField())
    tallies = ArrayField(models.BigIntegerField())
    voters_count = models.BigIntegerField(null=True, default=0)
    multiple = models.BooleanField(default=False)
    hide_totals = models.BooleanField(default=False)
    expires_at = models.DateTimeField(null=True)
    announce_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("statuses_poll_lengths", options=OBJECT_LIMIT),
            models.CheckConstraint(
                condition=Q(options__len__gte=1) & Q(options__len__lte=OPTIONS_LIMIT),
                name="statuses_poll_options",
            ),
        ]


class PollVote(models.Model):
    """Vote of `account` for the option with the index `choice`, counted from 0."""

    poll = models.ForeignKey(Poll, on_delete=models.CASCADE, related_name="votes", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    choice = models.SmallIntegerField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["poll", "account", "choice"], name="statuses_poll_vote")]
