"""What is talked about more than usual, and what staff say about showing it."""

from __future__ import annotations

from django.db import models

from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, WORD_LIMIT, lengths


class TrendKind(models.TextChoices):
    """What can trend, and what staff can allow to: posts also by their authors, links also by their publishers."""

    TAG = "tag"
    STATUS = "status"
    LINK = "link"
    AUTHOR = "author"


class Trend(models.Model):
    """A hashtag, post or preview card that trends now, whether it may be shown or not. `score` orders them.

    `peak` is the highest score of the last days, at `peak_at`: from there the score falls by half in a set time.
    """

    kind = models.TextField(choices=TrendKind.choices)
    object_id = models.BigIntegerField()
    score = models.FloatField()
    peak = models.FloatField(default=0)
    peak_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_trend_lengths", kind=WORD_LIMIT),
            models.UniqueConstraint(fields=["kind", "object_id"], name="timelines_trend_key"),
        ]
        indexes = [models.Index(fields=["kind", "-score"], name="timelines_trend_score")]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}: {self.score:.1f}"


class TrendReview(models.Model):
    """What staff have decided about a post, an author or a link; hashtags and publishers hold theirs themselves."""

    kind = models.TextField(choices=TrendKind.choices)
    object_id = models.BigIntegerField()
    trendable = models.BooleanField()
    reviewed_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("timelines_trendreview_lengths", kind=WORD_LIMIT),
            models.UniqueConstraint(fields=["kind", "object_id"], name="timelines_trendreview_key"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.object_id}: {self.trendable}"


class LinkPublisher(models.Model):
    """A site whose pages have trended; `trendable` is None until staff have decided."""

    id = SnowflakeField(primary_key=True)
    domain = models.TextField(unique=True)
    trendable = models.BooleanField(null=True)
    reviewed_at = models.DateTimeField(null=True)
    requested_review_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [lengths("timelines_linkpublisher_lengths", domain=HOST_LIMIT)]

    def __str__(self) -> str:
        return self.domain
