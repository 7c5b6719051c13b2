"""Models of timelines: lists with their members, conversations, markers, trends, and search documents."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, WORD_LIMIT, lengths
from statuses.models import Status

TITLE_LIMIT = 256
LISTS_LIMIT = 50


class RepliesPolicy(models.TextChoices):
    """Replies to other accounts that a list shows: to its members, to accounts that the owner follows, or none."""

    LIST = "list"
    FOLLOWED = "followed"
    NONE = "none"


class List(models.Model):
    """A list of accounts. The home timeline leaves out members of an `exclusive` list. `absent`: the owner is not active."""

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    title = models.TextField()
    replies_policy = models.TextField(choices=RepliesPolicy.choices, default=RepliesPolicy.LIST)
    exclusive = models.BooleanField(default=False)
    absent = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_list_lengths", replies_policy=WORD_LIMIT),
            models.CheckConstraint(condition=Q(title__length__lte=TITLE_LIMIT), name="timelines_list_title_length"),
        ]
        indexes = [
            models.Index(fields=["account", "id"], name="timelines_list_account"),
            models.Index(fields=["account"], name="timelines_list_active", condition=Q(absent=False)),
        ]

    def __str__(self) -> str:
        return self.title


class ListMember(models.Model):
    """Membership of `account` in the list. The account's posts are shown only if the list's owner follows it, has requested to
    follow it, or is the account itself. `absent` is copied from the list, so that fan-out skips lists of absent owners.
    """

    list = models.ForeignKey(List, on_delete=models.CASCADE, related_name="members", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    absent = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["list", "account"], name="timelines_listmember_pair")]
        indexes = [
            models.Index(fields=["account", "list"], name="timelines_listmember_account"),
            models.Index(fields=["account", "list"], name="timelines_listmember_reached", condition=Q(absent=False)),
        ]


class Conversation(models.Model):
    """Conversation of a local account, `account`: its direct posts in one thread with the same participants. `participants` are
    the ids of the other accounts in ascending order, `key` is derived from them, `last_status` is the newest post.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    thread_id = models.BigIntegerField()
    participants = ArrayField(models.BigIntegerField())
    key = models.TextField()
    last_status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="+")
    unread = models.BooleanField(default=False)

    class Meta:
        constraints = [
            lengths("timelines_conversation_lengths", key=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["account", "thread_id", "key"], name="timelines_conversation_key"),
        ]
        indexes = [models.Index(fields=["account", "-last_status"], name="timelines_conversation_account")]


class ConversationPost(models.Model):
    """A post of a conversation."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="posts", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "status"], name="timelines_conversationpost_pair")
        ]


class Timeline(models.TextChoices):
    """Timelines that have a marker."""

    HOME = "home"
    NOTIFICATIONS = "notifications"


class Marker(models.Model):
    """Last item of a timeline that `account` has read; `version` increases by one with every change."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    timeline = models.TextField(choices=Timeline.choices)
    last_read_id = models.BigIntegerField()
    version = models.BigIntegerField(default=1)
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_marker_lengths", timeline=WORD_LIMIT),
            models.UniqueConstraint(fields=["account", "timeline"], name="timelines_marker_pair"),
            models.CheckConstraint(condition=Q(last_read_id__gte=0), name="timelines_marker_last_read_id"),
        ]


class TrendKind(models.TextChoices):
    """Kinds of objects that can trend or that staff can approve; staff can also approve authors of posts and publishers of
    links.
    """

    TAG = "tag"
    STATUS = "status"
    LINK = "link"
    AUTHOR = "author"


class Trend(models.Model):
    """A hashtag, post or preview card that trends now, even if it may not be shown. Trends are ordered by `score`. `peak` is
    the highest score of the last days, reached at `peak_at`; the score then decays with a fixed half-life.
    """

    kind = models.TextField(choices=TrendKind.choices)
    object_id = models.BigIntegerField()
    score = models.FloatField()
    peak = models.FloatField(default=0)
    peak_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("trend")
        verbose_name_plural = _("trends")
        constraints = [
            lengths("timelines_trend_lengths", kind=WORD_LIMIT),
            models.UniqueConstraint(fields=["kind", "object_id"], name="timelines_trend_key"),
        ]
        indexes = [models.Index(fields=["kind", "-score"], name="timelines_trend_score")]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}"


class TrendReview(models.Model):
    """Decision of staff about a trending post, author or link; hashtags and publishers have a column `trendable` instead."""

    kind = models.TextField(choices=TrendKind.choices)
    object_id = models.BigIntegerField()
    trendable = models.BooleanField()
    reviewed_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_trendreview_lengths", kind=WORD_LIMIT),
            models.UniqueConstraint(fields=["kind", "object_id"], name="timelines_trendreview_key"),
        ]


class LinkPublisher(models.Model):
    """A site whose pages have trended; `trendable` is None until staff have decided."""

    id = SnowflakeField(primary_key=True)
    domain = models.TextField(unique=True)
    trendable = models.BooleanField(null=True)
    reviewed_at = models.DateTimeField(null=True)
    requested_review_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("link publisher")
        verbose_name_plural = _("link publishers")
        constraints = [lengths("timelines_linkpublisher_lengths", domain=HOST_LIMIT)]

    def __str__(self) -> str:
        return self.domain


class SearchDocument(models.Model):
    """Search document of a post that is not a boost: its words and facts, as `timelines.services.search_index` writes them."""

    status = models.OneToOneField(Status, primary_key=True, on_delete=models.CASCADE, related_name="+")
    words = SearchVectorField()

    class Meta:
        indexes = [GinIndex(fields=["words"], name="timelines_document_words")]
