"""Models of the filters that hide posts from their owners, with keywords and single posts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import NAME_LIMIT, WORD_LIMIT, lengths
from statuses.models.status import Status

TITLE_LIMIT = 256
KEYWORD_LIMIT = 512


class FilterAction(models.TextChoices):
    """Ways in which a client treats a matching post."""

    WARN = "warn"
    HIDE = "hide"
    BLUR = "blur"


class FilterContext(models.TextChoices):
    """Places where a client applies a filter."""

    HOME = "home"
    NOTIFICATIONS = "notifications"
    PUBLIC = "public"
    THREAD = "thread"
    ACCOUNT = "account"


class Filter(models.Model):
    """A filter of `account`. After `expires_at`, the filter is still listed but matches nothing; NULL means that the filter
    never expires.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="filters")
    title = models.TextField()
    context = ArrayField(models.TextField(choices=FilterContext.choices))
    action = models.TextField(choices=FilterAction.choices, default=FilterAction.WARN)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [lengths("statuses_filter_lengths", title=TITLE_LIMIT, context=NAME_LIMIT, action=WORD_LIMIT)]

    def __str__(self) -> str:
        return self.title


class FilterKeyword(models.Model):
    """A keyword that a filter looks for, ignoring case; with `whole_word` it matches only between word boundaries."""

    filter = models.ForeignKey(Filter, on_delete=models.CASCADE, related_name="keywords")
    keyword = models.TextField()
    whole_word = models.BooleanField(default=True)

    class Meta:
        constraints = [lengths("statuses_filterkeyword_lengths", keyword=KEYWORD_LIMIT)]


class FilterStatus(models.Model):
    """A post that a filter matches regardless of the post's text; boosts of that post match as well."""

    id = SnowflakeField(primary_key=True)
    filter = models.ForeignKey(Filter, on_delete=models.CASCADE, related_name="statuses", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["filter", "status"], name="statuses_filter_status_pair")]
