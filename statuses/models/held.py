"""Models of posts that are held for review by staff."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from accounts.spam.models import SpamRule
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import DOCUMENT_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths
from statuses.models.attachments import MediaAttachment
from statuses.models.scheduling import ScheduledStatus
from statuses.models.status import Status

EXCERPT_LIMIT = 5000
BOOSTS_LIMIT = 200
"""Maximum number of boosts that are stored for one held post."""


class HeldPost(models.Model):
    """A post, or an edit of `status`, that matched a spam rule and is not published: only its author and staff can see it.

    A local post is stored in `scheduled`, a local edit in `draft`. For a remote post, `document` is what its server sent, `uri`
    the id of the post, `request_uri` the id of the activity that asked to reply, and `recipient` the account whose inbox
    received it; `announced` tells whether accounts are notified of the post. `approved_at` is set while an approved remote post
    is waiting to be published.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    rule = models.ForeignKey(SpamRule, null=True, on_delete=models.SET_NULL, related_name="held", db_index=False)
    rule_name = models.TextField()
    status = models.OneToOneField(Status, null=True, on_delete=models.CASCADE, related_name="held_edit")
    draft = models.JSONField(null=True)
    scheduled = models.OneToOneField(ScheduledStatus, null=True, on_delete=models.CASCADE, related_name="held")
    uri = models.TextField(null=True, unique=True)
    request_uri = models.TextField(null=True)
    document = models.TextField(null=True)
    recipient = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+")
    announced = models.BooleanField(default=True)
    visibility = models.TextField()
    excerpt = models.TextField()
    link_hosts = ArrayField(models.TextField(), default=list)
    mentions_count = models.PositiveIntegerField(default=0)
    written_at = models.DateTimeField()
    created_at = models.DateTimeField(default=clock.now)
    approved_at = models.DateTimeField(null=True)
    version: str = ""
    """Digest of the post and its files at the time when this object was read; `statuses.services.moderating` computes the
    digest."""

    class Meta:
        verbose_name = _("held post")
        verbose_name_plural = _("held posts")
        constraints = [
            lengths(
                "statuses_heldpost_lengths",
                rule_name=NAME_LIMIT,
                uri=URI_LIMIT,
                document=DOCUMENT_LIMIT,
                visibility=WORD_LIMIT,
                excerpt=EXCERPT_LIMIT,
                link_hosts=OBJECT_LIMIT,
            ),
            lengths("statuses_heldpost_draft", draft=OBJECT_LIMIT),
            lengths("statuses_heldpost_request", request_uri=URI_LIMIT),
            models.CheckConstraint(
                condition=Q(scheduled__isnull=True) | Q(document__isnull=True), name="statuses_heldpost_source"
            ),
        ]
        indexes = [
            models.Index(fields=["account", "-id"], name="statuses_heldpost_account"),
            models.Index(fields=["rule", "-id"], name="statuses_heldpost_rule"),
        ]

    def __str__(self) -> str:
        return f"@{self.account.acct}"


class HeldBoost(models.Model):
    """A boost of a held post by `account`, with the id `uri`; the boost is created once the post is approved."""

    held = models.ForeignKey(HeldPost, on_delete=models.CASCADE, related_name="boosts")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    uri = models.TextField(unique=True)
    visibility = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [lengths("statuses_heldboost_lengths", uri=URI_LIMIT, visibility=WORD_LIMIT)]


class HeldMedia(models.Model):
    """A file of a held edit, which no other post can attach. With `preview_of`, the row is a thumbnail of that file instead."""

    held = models.ForeignKey(HeldPost, on_delete=models.CASCADE, related_name="media")
    media = models.OneToOneField(MediaAttachment, on_delete=models.CASCADE, related_name="held")
    preview_of = models.ForeignKey(MediaAttachment, null=True, on_delete=models.CASCADE, related_name="+")
