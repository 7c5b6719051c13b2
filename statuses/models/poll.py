"""The polls of posts, and the votes in them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, lengths
from statuses.models.status import Status

# Polls of other servers are clamped to these; local ones are limited by `statuses.policies.polls`.
OPTIONS_LIMIT = 500
TITLE_LIMIT = 1000


class Poll(models.Model):
    """The poll of `status`. `tallies` counts the votes for each of the `options`, `voters_count` the people who voted:
    None when the server of a remote poll does not say.

    `expires_at` is None for a remote poll without an end.
    """

    id = SnowflakeField(primary_key=True)
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="poll")
    options = ArrayField(models.TextField())
    tallies = ArrayField(models.BigIntegerField())
    voters_count = models.BigIntegerField(null=True, default=0)
    multiple = models.BooleanField(default=False)
    hide_totals = models.BooleanField(default=False)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("statuses_poll_lengths", options=OBJECT_LIMIT),
            models.CheckConstraint(
                condition=Q(options__len__gte=1) & Q(options__len__lte=OPTIONS_LIMIT),
                name="statuses_poll_options",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}"


class PollVote(models.Model):
    """`account` has voted for the option at `choice`, counted from 0."""

    poll = models.ForeignKey(Poll, on_delete=models.CASCADE, related_name="votes", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    choice = models.SmallIntegerField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["poll", "account", "choice"], name="statuses_poll_vote")]

    def __str__(self) -> str:
        return f"{self.account_id} {self.poll_id}:{self.choice}"
