"""Posts that are held for review by staff."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, SpamRule
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import DOCUMENT_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths
from statuses.models.scheduling import ScheduledStatus

EXCERPT_LIMIT = 5000


class HeldPost(models.Model):
    """A post that met a rule against spam and is no post yet: nothing but its author and staff knows of it.

    Of one written here `scheduled` has what its author sent, and its files; of one of another server `document` is what
    that server sent, `uri` the id of the post, `recipient` whose inbox it came to, and `announced` whether people are
    notified of it when it is published. The rest is for staff to decide by. `approved_at` is set while a received one is on
    its way to being published.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    rule = models.ForeignKey(SpamRule, null=True, on_delete=models.SET_NULL, related_name="held", db_index=False)
    rule_name = models.TextField()
    scheduled = models.OneToOneField(ScheduledStatus, null=True, on_delete=models.CASCADE, related_name="held")
    uri = models.TextField(null=True, unique=True)
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
