"""Hashtags, with their uses, followers, and places on profiles."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import lengths

# The limit is generous, because normalising can make a name many times longer.
TAG_LIMIT = 500


class Tag(models.Model):
    """A hashtag by its normalised name; `display_name` is the spelling of its first use, or the choice of staff.

    `usable`: new local posts may have it. `listable`: search may show it. `trendable`: it may trend; None until staff
    have decided. `private`: it has not been used in public yet. `local_only`: it has been used in public, but only in
    posts for people of this server.
    """

    id = SnowflakeField(primary_key=True)
    name = models.TextField(unique=True)
    display_name = models.TextField()
    usable = models.BooleanField(default=True)
    listable = models.BooleanField(default=True)
    private = models.BooleanField(default=False, db_default=False)
    local_only = models.BooleanField(default=False, db_default=False)
    trendable = models.BooleanField(null=True)
    reviewed_at = models.DateTimeField(null=True)
    requested_review_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("hashtag")
        verbose_name_plural = _("hashtags")
        constraints = [
            lengths("accounts_tag_lengths", display_name=TAG_LIMIT),
            models.CheckConstraint(condition=Q(name__length__lte=TAG_LIMIT), name="accounts_tag_name_length"),
        ]

    def __str__(self) -> str:
        return f"#{self.display_name}"


class TagUse(models.Model):
    """Number of an account's uses of a hashtag in public posts of one day (UTC)."""

    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    uses = models.IntegerField(default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tag", "day", "account"], name="accounts_taguse_key")]
        indexes = [models.Index(fields=["day"], name="accounts_taguse_day")]


class TagFollow(models.Model):
    """Follow of a hashtag by `account`, whose home timeline shows public posts with a greater id than this row.

    The ids of posts and of these rows increase with time. `absent`: the follower has not been active for days, as with
    `FollowerState.ABSENT`.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+", db_index=False)
    absent = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tag", "account"], name="accounts_tagfollow_pair")]
        indexes = [
            models.Index(fields=["account", "-id"], name="accounts_tagfollow_account"),
            models.Index(fields=["tag", "account"], name="accounts_tagfollow_reached", condition=Q(absent=False)),
            models.Index(fields=["account"], name="accounts_tagfollow_active", condition=Q(absent=False)),
        ]


FEATURED_TAGS_LIMIT = 10


class FeaturedTag(models.Model):
    """Hashtag on a profile, with the number and last time of the account's uses in public or unlisted posts."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="featured_tags", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+")
    name = models.TextField()
    statuses_count = models.BigIntegerField(default=0)
    last_status_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_featuredtag_lengths", name=TAG_LIMIT),
            models.UniqueConstraint(fields=["account", "tag"], name="accounts_featuredtag_pair"),
        ]
