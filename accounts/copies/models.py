"""Cached copies of remote files, files that the operator's scanner or a hash list has refused, and the hash lists."""

from typing import Final

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.events import RemoteCopyRequested
from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import (
    HOST_LIMIT,
    MESSAGE_LIMIT,
    NAME_LIMIT,
    OBJECT_LIMIT,
    PATH_LIMIT,
    URI_LIMIT,
    WORD_LIMIT,
    lengths,
)
from social.kernel.runner import WaitingRow

DISTANCE_LIMIT: Final = 31
"""Maximum distance (in bits) between similar hashes. Up to this distance, at least one of their 16 words differs in at most one
bit."""


class QuarantineSource(models.TextChoices):
    """Ways in which this server receives a file."""

    UPLOAD = "upload", _("Upload")
    PROFILE = "profile", _("Picture of a profile")
    THUMBNAIL = "thumbnail", _("Thumbnail")
    COPY = "copy", _("File from another server")
    CARD = "card", _("Preview picture")
    STAFF = "staff", _("Server picture")


class QuarantineDecision(models.TextChoices):
    """Decisions of staff about a file; the value is empty until staff have decided."""

    WAITING = "", _("Waiting")
    RELEASED = "released", _("Released")
    DESTROYED = "destroyed", _("Destroyed")
    REFUSED = "refused", _("Refused, not kept")


class QuarantinedFile(models.Model):
    """A refused file. A decision about a row applies to every file with the same `sha256`.

    `path` is the path of the file in the quarantine store; empty if the file was deleted, was not stored, or is stored for an
    earlier row. `list_name` is the hash list that refused the file (empty if the scanner refused it), `distance` the number of
    bits in which the perceptual hashes differ. A file of another server has a `url` instead of an `account`. `media_id` (an
    attachment) or `copy_digest` (a remote copy) identifies what failed because the file was refused.
    """

    id = SnowflakeField(primary_key=True)
    sha256 = models.TextField()
    source = models.TextField(choices=QuarantineSource.choices)
    account = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    url = models.TextField(default="")
    media_id = models.BigIntegerField(null=True)
    copy_digest = models.TextField(default="")
    content_type = models.TextField(default="")
    size = models.BigIntegerField(default=0)
    path = models.TextField(default="")
    reason = models.TextField(default="")
    list_name = models.TextField(default="", db_default="")
    distance = models.PositiveSmallIntegerField(null=True)
    decision = models.TextField(choices=QuarantineDecision.choices, default=QuarantineDecision.WAITING, blank=True)
    decided_by = models.TextField(default="")
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("file in quarantine")
        verbose_name_plural = _("files in quarantine")
        constraints = [
            lengths(
                "accounts_quarantinedfile_lengths",
                sha256=NAME_LIMIT,
                source=WORD_LIMIT,
                url=URI_LIMIT,
                copy_digest=NAME_LIMIT,
                content_type=NAME_LIMIT,
                path=PATH_LIMIT,
                reason=MESSAGE_LIMIT,
                decision=WORD_LIMIT,
                decided_by=URI_LIMIT + NAME_LIMIT,
            ),
            lengths("accounts_quarantinedfile_list", list_name=NAME_LIMIT),
        ]
        indexes = [
            models.Index(fields=["sha256", "-id"], name="accounts_quarantine_digest"),
            models.Index(fields=["copy_digest"], name="accounts_quarantine_copy", condition=~Q(copy_digest="")),
            models.Index(fields=["-id"], name="accounts_quarantine_waiting", condition=Q(decision="")),
            models.Index(fields=["list_name"], name="accounts_quarantine_list", condition=~Q(list_name="")),
        ]

    def __str__(self) -> str:
        return self.sha256[:16]


class HashKind(models.TextChoices):
    """Kinds of hashes; both have 32 bytes."""

    SHA256 = "sha256", _("SHA-256: the same file")
    PDQ = "pdq", _("PDQ: pictures that look alike")


class ListedAct(models.TextChoices):
    """Effects of a match. In both cases the file is refused, and staff see who sent it and when."""

    QUARANTINE = "quarantine", _("Refuse the file, and keep it in quarantine")
    REFUSE = "refuse", _("Refuse the file, and keep nothing of it")


class HashList(models.Model):
    """List of hashes of files that this server refuses; `source` and `note` are for staff, `size` counts the hashes.

    A PDQ hash matches if at most `distance` bits differ. `name` and `kind` cannot be changed, because rows of refused files
    contain them.
    """

    id = SnowflakeField(primary_key=True)
    name = models.TextField(unique=True)
    kind = models.TextField(choices=HashKind.choices)
    source = models.TextField(default="", blank=True)
    note = models.TextField(default="", blank=True)
    act = models.TextField(choices=ListedAct.choices, default=ListedAct.QUARANTINE)
    distance = models.PositiveSmallIntegerField(default=DISTANCE_LIMIT)
    enabled = models.BooleanField(default=False)
    size = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("hash list")
        verbose_name_plural = _("hash lists")
        constraints = [
            lengths(
                "accounts_hashlist_lengths",
                name=NAME_LIMIT,
                kind=WORD_LIMIT,
                source=URI_LIMIT,
                note=MESSAGE_LIMIT,
                act=WORD_LIMIT,
            ),
            models.CheckConstraint(condition=Q(distance__lte=DISTANCE_LIMIT), name="accounts_hashlist_distance"),
        ]

    def __str__(self) -> str:
        return self.name


class HashEntry(models.Model):
    """Hash on a list. `words` are the 16 words of a PDQ hash (`policies.words_of`), None for a SHA-256 hash."""

    hash_list = models.ForeignKey(HashList, on_delete=models.CASCADE, related_name="entries", db_index=False)
    value = models.BinaryField()
    words = ArrayField(models.IntegerField(), null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["hash_list", "value"], name="accounts_hashentry_once")]
        indexes = [
            GinIndex(fields=["words"], name="accounts_hashentry_words", condition=Q(words__isnull=False)),
        ]


class CopyPurpose(models.TextChoices):
    """Purpose of a copy, which decides the size limit of the file and how it is processed."""

    ATTACHMENT = "attachment"
    COVER = "cover"
    AVATAR = "avatar"
    HEADER = "header"
    EMOJI = "emoji"


class CopyState(models.TextChoices):
    WAITING = "waiting"
    READY = "ready"
    FAILED = "failed"


class CopyFailure(models.TextChoices):
    """Reason why a copy failed: the file is missing, it may not be shown, or its server was not reached."""

    NONE = ""
    MISSING = "missing"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


class RemoteCopy(models.Model):
    """Copy of a remote file for one purpose, shared by all posts and profiles that name the file.

    `digest` identifies the purpose and the URL; the URL itself may be too long for an index. `file` and `preview` (thumbnail of
    an attachment, first frame of an animation) are paths in the media storage, empty until the copy is ready. A failed copy is
    not retried before `retry_at`. `served_at` is precise to an hour. `measured` contains `type`, `meta` and `blurhash` of the
    MediaAttachment entity.
    """

    digest = models.TextField(unique=True)
    purpose = models.TextField(choices=CopyPurpose.choices)
    url = models.TextField()
    host = models.TextField(default="")
    state = models.TextField(choices=CopyState.choices, default=CopyState.WAITING)
    failure = models.TextField(choices=CopyFailure.choices, default=CopyFailure.NONE, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    file = models.TextField(default="")
    file_size = models.BigIntegerField(default=0)
    preview = models.TextField(default="")
    preview_size = models.BigIntegerField(default=0)
    measured = models.JSONField(default=dict)
    requested_at = models.DateTimeField(default=clock.now)
    served_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "accounts_remotecopy_lengths",
                digest=NAME_LIMIT,
                purpose=WORD_LIMIT,
                url=URI_LIMIT,
                host=HOST_LIMIT,
                state=WORD_LIMIT,
                failure=WORD_LIMIT,
                file=PATH_LIMIT,
                preview=PATH_LIMIT,
                measured=OBJECT_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["served_at"], name="accounts_remotecopy_served", condition=Q(state="ready")),
            models.Index(fields=["requested_at"], name="accounts_remotecopy_unready", condition=~Q(state="ready")),
        ]

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the copy's stored files."""
        return tuple(path for path in (self.file, self.preview) if path)


class CopyFetch(WaitingRow):
    """Queued fetch of a copy; there is only one per copy, however many clients request the file."""

    queue = "copies"
    due = RemoteCopyRequested

    copy = models.OneToOneField(RemoteCopy, on_delete=models.CASCADE, related_name="+")

    class Meta(WaitingRow.Meta):
        constraints = [lengths("accounts_copyfetch_lengths", last_error=MESSAGE_LIMIT, host=HOST_LIMIT)]
