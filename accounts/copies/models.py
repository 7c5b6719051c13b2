"""Files that the operator's scanner has refused."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, PATH_LIMIT, URI_LIMIT, WORD_LIMIT, lengths


class QuarantineSource(models.TextChoices):
    """Ways in which a file can be received."""

    UPLOAD = "upload", _("Upload")
    PROFILE = "profile", _("Picture of a profile")
    THUMBNAIL = "thumbnail", _("Thumbnail")
    COPY = "copy", _("File of another server")
    CARD = "card", _("Picture of a preview")
    STAFF = "staff", _("Picture of this server")


class QuarantineDecision(models.TextChoices):
    """Decisions of staff about a file; the value is empty until staff have decided."""

    WAITING = "", _("Waiting")
    RELEASED = "released", _("Released")
    DESTROYED = "destroyed", _("Destroyed")


class QuarantinedFile(models.Model):
    """A refused file. `path` is the place of its bytes in the quarantine store, which is not served; it is empty when
    the bytes are deleted, or are stored with an earlier row of the same `sha256`.

    `account` is the sender, None for remote files, which have a `url`. `media_id` is the attachment, `copy_digest` the
    remote copy, that failed because of the file. A decision about a row applies to every file with its digest.
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
            )
        ]
        indexes = [
            models.Index(fields=["sha256", "-id"], name="accounts_quarantine_digest"),
            models.Index(fields=["copy_digest"], name="accounts_quarantine_copy", condition=~Q(copy_digest="")),
            models.Index(fields=["-id"], name="accounts_quarantine_waiting", condition=Q(decision="")),
        ]

    def __str__(self) -> str:
        return self.sha256[:16]
