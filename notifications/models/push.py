"""Subscriptions of applications to the notifications of their users, and the queue of pushes."""

from django.db import models

from accounts.models import AccessToken
from notifications.events import PushesDue
from notifications.models.notification import Notification
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, OBJECT_LIMIT, URI_LIMIT, WORD_LIMIT, lengths
from social.kernel.runner import WaitingRow


class PushPolicy(models.TextChoices):
    """Senders whose notifications are pushed, by their relation to the recipient."""

    ALL = "all"
    FOLLOWED = "followed"
    FOLLOWER = "follower"
    NONE = "none"


class PushSubscription(models.Model):
    """A subscription to pushes: the URL of the push service, and the notifications to send there. The subscription belongs to
    an access token, and is deleted with the token.

    `p256dh` and `auth` are the keys of the device, as the device sent them. `standard`: messages are encoded according to RFC
    8291 instead of its draft. `alerts` maps notification types to whether they are pushed; types that are missing are not
    pushed. With a `policy` that is not in PushPolicy, nothing is pushed. `host` is the host of the endpoint, with its port.
    """

    id = SnowflakeField(primary_key=True)
    token = models.OneToOneField(AccessToken, on_delete=models.CASCADE, related_name="push_subscription")
    endpoint = models.TextField()
    host = models.TextField()
    p256dh = models.TextField()
    auth = models.TextField()
    standard = models.BooleanField(default=False)
    alerts = models.JSONField(default=dict)
    policy = models.TextField(default=PushPolicy.ALL)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "notifications_pushsubscription_lengths",
                endpoint=URI_LIMIT,
                host=HOST_LIMIT,
                p256dh=NAME_LIMIT,
                auth=NAME_LIMIT,
                alerts=OBJECT_LIMIT,
                policy=WORD_LIMIT,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.token_id} at {self.host}"


class Push(WaitingRow):
    """A notification queued for a subscription.

    There is at most one row per notification and subscription. The row outlives the notification and the subscription, so that
    deleting them needs no further statement and no lock; the queue deletes the row later.
    """

    queue = "pushes"
    due = PushesDue

    subscription = models.ForeignKey(
        PushSubscription, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )
    notification = models.ForeignKey(
        Notification, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )

    class Meta(WaitingRow.Meta):
        constraints = [
            lengths("notifications_push_lengths", last_error=MESSAGE_LIMIT, host=HOST_LIMIT),
            models.UniqueConstraint(fields=["subscription", "notification"], name="notifications_push_once"),
        ]

    def __str__(self) -> str:
        return f"{self.notification_id} for {self.subscription_id}"
