"""Who follows whom, and who has asked to."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.lengths import MESSAGE_LIMIT, URI_LIMIT, WORD_LIMIT, lengths


class FollowerState(models.TextChoices):
    """What a post of the followed account means for the follower."""

    REMOTE = "remote"
    """Another server delivers it to them."""
    ACTIVE = "active"
    """They may have a feed that it belongs in, or an open stream."""
    ABSENT = "absent"
    """They have not been here for days: their feed is built when they come."""


class _Following(models.Model):
    # The ActivityPub id of the Follow; NULL until it is needed or when it is ours (computed from the id).
    uri = models.TextField(null=True, unique=True)
    show_reblogs = models.BooleanField(default=True)
    notify = models.BooleanField(default=False)
    languages = ArrayField(models.TextField(), null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        abstract = True


class Follow(_Following):
    """`account` follows `target`, with the options of that follow.

    `direct_since` is when `account` last ended a mute of `target`: direct posts that are older do not come home.

    `follower_state` lets a post's readers, and the servers it goes to, be ranged over without the others: nobody pays for
    followers who are away. A trigger sets it for a new row, `timelines.services.presence` when people go and come.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="following", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="followers", db_index=False)
    direct_since = models.DateTimeField(null=True)
    follower_state = models.TextField(choices=FollowerState, default=FollowerState.ACTIVE)

    class Meta:
        constraints = [
            lengths("accounts_follow_lengths", uri=URI_LIMIT, languages=MESSAGE_LIMIT, follower_state=WORD_LIMIT),
            models.UniqueConstraint(fields=["account", "target"], name="accounts_follow_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_follow_not_self"),
        ]
        indexes = [
            models.Index(fields=["target", "-id"], name="accounts_follow_followers"),
            models.Index(fields=["account", "-id"], name="accounts_follow_following"),
            models.Index(fields=["target", "id"], name="accounts_follow_notified", condition=Q(notify=True)),
            models.Index(fields=["target", "follower_state", "account"], name="accounts_follow_reached"),
            models.Index(fields=["account"], name="accounts_follow_active", condition=Q(follower_state="active")),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} -> {self.target_id}"


class FollowRequest(_Following):
    """`account` has asked to follow `target`, who has not answered yet."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="follow_requests_sent", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="follow_requests", db_index=False)

    class Meta:
        constraints = [
            lengths("accounts_followrequest_lengths", uri=URI_LIMIT, languages=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["account", "target"], name="accounts_followrequest_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_followrequest_not_self"),
        ]
        indexes = [models.Index(fields=["target", "-id"], name="accounts_followrequest_target")]

    def __str__(self) -> str:
        return f"{self.account_id} ? {self.target_id}"
