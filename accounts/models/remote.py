"""Known servers, and cached copies of remote files."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from accounts.events import RemoteCopyRequested
from social.kernel import clock
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


class Domain(models.Model):
    """Known server, by its lower-case Punycode domain; the decisions of staff about it are in `moderation`.

    `host` last served the documents of its accounts and may differ from the domain; empty if it is unknown. `software` and
    `version` are from its NodeInfo, last requested at `software_asked_at`; empty if they are unknown. `reached_at` is when
    a request to it last succeeded, precise to about an hour.
    """

    name = models.TextField(unique=True)
    host = models.TextField(default="", db_default="")
    first_seen_at = models.DateTimeField(default=clock.now)
    software = models.TextField(default="", db_default="")
    version = models.TextField(default="", db_default="")
    software_asked_at = models.DateTimeField(null=True)
    reached_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("known server")
        verbose_name_plural = _("known servers")
        constraints = [
            lengths("accounts_domain_lengths", name=HOST_LIMIT),
            lengths("accounts_domain_software_lengths", software=WORD_LIMIT, version=NAME_LIMIT),
            lengths("accounts_domain_host_lengths", host=HOST_LIMIT),
            models.CheckConstraint(condition=models.Q(name=Lower("name")), name="accounts_domain_lower_case"),
        ]
        indexes = [models.Index(fields=["host"], name="accounts_domain_host", condition=~models.Q(host=""))]

    def __str__(self) -> str:
        return self.name


class CopyPurpose(models.TextChoices):
    """Use of a file, which decides its size limit and how it is processed."""

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

    `digest` identifies purpose and URL, since a URL is too long for an index. `file` and `preview` are paths in the media
    storage, empty until the copy is ready; `preview` is the thumbnail of an attachment, the first frame of an animated
    avatar, header or emoji, and otherwise empty. A failed copy is not retried before `retry_at`. `served_at` is precise to
    an hour. `measured` describes an attachment: `type`, `meta` and `blurhash` of the entity MediaAttachment.
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
