"""Relations between accounts: follows, requests, blocks, mutes, private records, and follows that were ended by others."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from accounts.models.account import Account
from social.kernel import clock
from social.kernel.lengths import ADDRESS_LIMIT, HOST_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, URI_LIMIT, WORD_LIMIT, lengths


class FollowerState(models.TextChoices):
    """Kinds of followers, by the way in which the followed account's posts reach them."""

    REMOTE = "remote"
    """Remote follower, to whose server posts are delivered."""
    ACTIVE = "active"
    """Local follower who may have a feed to which posts are added, or an open stream."""
    ABSENT = "absent"
    """Local follower who has not been active for days; their feed is built at their next visit."""


class _Following(models.Model):
    # ActivityPub id of the Follow; NULL for follows between local accounts, and after another follow was given the same id.
    uri = models.TextField(null=True, unique=True)
    show_reblogs = models.BooleanField(default=True)
    notify = models.BooleanField(default=False)
    languages = ArrayField(models.TextField(), null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        abstract = True


class Follow(_Following):
    """Follow of `target` by `account`, with its options.

    `direct_since` is when `account` last ended a mute of `target`: older direct posts stay out of the home timeline. A
    trigger sets `follower_state` for a new row; `timelines.services.presence` changes it. The column is part of an
    index, so that delivery never reads absent followers.
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


class FollowRequest(_Following):
    """Pending request of `account` to follow `target`."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="follow_requests_sent", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="follow_requests", db_index=False)

    class Meta:
        constraints = [
            lengths("accounts_followrequest_lengths", uri=URI_LIMIT, languages=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["account", "target"], name="accounts_followrequest_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_followrequest_not_self"),
        ]
        indexes = [models.Index(fields=["target", "-id"], name="accounts_followrequest_target")]


class Block(models.Model):
    """Block of `target` by `account`: each is hidden from the other."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="blocks", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="blocked_by", db_index=False)
    uri = models.TextField(null=True, unique=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_block_lengths", uri=URI_LIMIT),
            models.UniqueConstraint(fields=["account", "target"], name="accounts_block_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_block_not_self"),
        ]
        indexes = [models.Index(fields=["target"], name="accounts_block_target")]


class Mute(models.Model):
    """Mute of `target` by `account`; an expired mute does not count, even if its row still exists."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="mutes", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="muted_by", db_index=False)
    hide_notifications = models.BooleanField(default=True)
    expires_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "target"], name="accounts_mute_pair"),
            models.CheckConstraint(condition=~Q(account=F("target")), name="accounts_mute_not_self"),
        ]
        indexes = [
            models.Index(fields=["target"], name="accounts_mute_target"),
            models.Index(fields=["expires_at"], name="accounts_mute_expiry", condition=Q(expires_at__isnull=False)),
        ]


class AccountDomainBlock(models.Model):
    """Block of a server by `account`; `domain` is in lower-case Punycode."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="domain_blocks", db_index=False)
    domain = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_accountdomainblock_lengths", domain=HOST_LIMIT),
            models.UniqueConstraint(fields=["account", "domain"], name="accounts_domainblock_pair"),
            models.CheckConstraint(condition=Q(domain=Lower("domain")), name="accounts_domainblock_lower_case"),
        ]


COMMENT_LIMIT = 2000


class AccountNote(models.Model):
    """Private note of `account` about `target`; nobody else sees it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="notes_written", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    comment = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["account", "target"], name="accounts_note_pair"),
            models.CheckConstraint(condition=Q(comment__length__lte=COMMENT_LIMIT), name="accounts_note_length"),
        ]


class Endorsement(models.Model):
    """Endorsement of `target` on the profile of `account`, which follows `target`."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="endorsements", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "target"], name="accounts_endorsement_pair")]


class DismissedSuggestion(models.Model):
    """Suggestion of `target` that `account` has dismissed for good."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "target"], name="accounts_dismissed_pair")]


class SuppressedSuggestion(models.Model):
    """Account that staff keep out of suggestions."""

    account = models.OneToOneField(Account, on_delete=models.CASCADE, primary_key=True, related_name="+")
    created_at = models.DateTimeField(default=clock.now)


class SeveranceType(models.TextChoices):
    """Causes of ended follows."""

    DOMAIN_BLOCK = "domain_block"
    USER_DOMAIN_BLOCK = "user_domain_block"
    ACCOUNT_SUSPENSION = "account_suspension"


class Severance(models.Model):
    """Block or suspension that ended follows, identified by `cause`. It has one row, even if it took several steps."""

    type = models.TextField(choices=SeveranceType.choices)
    target_name = models.TextField()
    cause = models.TextField(unique=True)
    purged = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_severance_lengths", type=WORD_LIMIT, target_name=ADDRESS_LIMIT, cause=NAME_LIMIT)
        ]


class SeveredAccount(models.Model):
    """Numbers of followers and of followed accounts that a local account has lost through a block or suspension."""

    severance = models.ForeignKey(Severance, on_delete=models.CASCADE, related_name="accounts", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="severances")
    followers_count = models.IntegerField(default=0)
    following_count = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["severance", "account"], name="accounts_severed_account")]


class SeveredFollow(models.Model):
    """Follow that was ended, with its options, so that it can be restored by hand."""

    severance = models.ForeignKey(Severance, on_delete=models.CASCADE, related_name="follows", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    show_reblogs = models.BooleanField()
    notify = models.BooleanField()
    languages = ArrayField(models.TextField(), null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_severedfollow_lengths", languages=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["severance", "account", "target"], name="accounts_severed_follow"),
            models.CheckConstraint(condition=~models.Q(account=F("target")), name="accounts_severed_not_self"),
        ]
