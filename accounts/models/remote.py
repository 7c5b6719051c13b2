"""Tables of other servers, and of the copies of their files that are kept as long as there is room for them."""

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
    """A server we have met, by its lower-case Punycode name; what staff decided about it is in `moderation`.

    `host` is where the documents of its people were last, which may be another name; empty where that is unknown.
    `software` and `version` are what its NodeInfo said last, empty where that is unknown; it was asked at
    `software_asked_at`. `reached_at` is when it last took or gave what it should, to about an hour.
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
    """Use of a file, which decides how large it may be and how it is drawn."""

    ATTACHMENT = "attachment"
    COVER = "cover"
    AVATAR = "avatar"
    HEADER = "header"
    EMOJI = "emoji"


class CopyState(models.TextChoices):
    """Progress of a copy."""

    WAITING = "waiting"
    READY = "ready"
    FAILED = "failed"


class CopyFailure(models.TextChoices):
    """Reason why there is no copy: its server lacks the file, it is of a kind not shown, or its server was not reached."""

    NONE = ""
    MISSING = "missing"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"


class RemoteCopy(models.Model):
    """A file of another server, as it is shown for one purpose; whoever names the same file shares the copy.

    `digest` stands for purpose and URL, which is too long for an index. `file` and `preview` are paths in the media
    storage, empty until it is ready; `preview` is the small picture of an attachment, the first frame of an avatar or
    header or emoji that moves, and else empty. A failed one is not asked for again before `retry_at`. `served_at` is exact to
    an hour. `measured` is what an attachment was found to be: `type`, `meta` and `blurhash` of the entity MediaAttachment.
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
        """The stored files that are its own."""
        return tuple(path for path in (self.file, self.preview) if path)


class CopyFetch(WaitingRow):
    """A copy that waits for its file, once however many want to see it."""

    queue = "copies"
    due = RemoteCopyRequested

    copy = models.OneToOneField(RemoteCopy, on_delete=models.CASCADE, related_name="+")

    class Meta(WaitingRow.Meta):
        constraints = [lengths("accounts_copyfetch_lengths", last_error=MESSAGE_LIMIT, host=HOST_LIMIT)]
