"""Announcements of staff to all users of this server, reactions to them, and dismissals."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.emojis.models import CustomEmoji
from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HTML_LIMIT, NAME_LIMIT, OBJECT_LIMIT, lengths

ANNOUNCEMENT_LIMIT = 10_000
REACTIONS_LIMIT = 8


class Announcement(models.Model):
    """A text, shown from `published_at` on; before that it is a draft, or scheduled for `scheduled_at`.

    `text` is the source. `content` is its HTML, rendered when the text is stored. The ids of the accounts and posts and the
    names of the hashtags in the text are stored as well. `starts_at` and `ends_at` are the times of the announced event
    (`all_day`: only their dates count); an announcement is no longer shown after `ends_at`.
    """

    id = SnowflakeField(primary_key=True)
    text = models.TextField()
    content = models.TextField()
    mentioned_ids = ArrayField(models.BigIntegerField(), default=list)
    status_ids = ArrayField(models.BigIntegerField(), default=list)
    tag_names = ArrayField(models.TextField(), default=list)
    starts_at = models.DateTimeField(null=True, blank=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    all_day = models.BooleanField(default=False)
    scheduled_at = models.DateTimeField(null=True, blank=True)
    published_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("announcement")
        verbose_name_plural = _("announcements")
        constraints = [
            lengths("moderation_announcement_lengths", content=HTML_LIMIT, tag_names=OBJECT_LIMIT),
            models.CheckConstraint(
                condition=Q(text__length__lte=ANNOUNCEMENT_LIMIT), name="moderation_announcement_length"
            ),
            models.CheckConstraint(
                condition=Q(starts_at=None) | Q(ends_at=None) | Q(starts_at__lte=F("ends_at")),
                name="moderation_announcement_period",
            ),
        ]
        indexes = [
            models.Index(
                fields=["published_at"], name="moderation_announcement_shown", condition=Q(published_at__isnull=False)
            )
        ]

    def __str__(self) -> str:
        return self.text[:80]


class AnnouncementReaction(models.Model):
    """Reaction of `account` with a Unicode emoji, or with the shortcode of a custom emoji (`custom_emoji` is set)."""

    id = SnowflakeField(primary_key=True)
    announcement = models.ForeignKey(Announcement, on_delete=models.CASCADE, related_name="reactions", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="announcement_reactions")
    name = models.TextField()
    custom_emoji = models.ForeignKey(CustomEmoji, null=True, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("moderation_announcementreaction_lengths", name=NAME_LIMIT),
            models.UniqueConstraint(
                fields=["announcement", "name", "account"], name="moderation_announcement_reaction_once"
            ),
        ]


class AnnouncementDismissal(models.Model):
    """Record that `account` has read an announcement."""

    announcement = models.ForeignKey(Announcement, on_delete=models.CASCADE, related_name="dismissals", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="announcement_dismissals")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["announcement", "account"], name="moderation_announcement_dismissal_once")
        ]
