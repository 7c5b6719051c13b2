"""Webhooks: addresses that are notified of events on this server, the queued calls, and the results of earlier calls."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from moderation.events import WebhookCallsDue
from social.kernel import clock
from social.kernel.lengths import (
    DOCUMENT_LIMIT,
    HOST_LIMIT,
    MESSAGE_LIMIT,
    OBJECT_LIMIT,
    URI_LIMIT,
    WORD_LIMIT,
    lengths,
)
from social.kernel.runner import WaitingRow

#: Maximum number of characters of a template, enforced by the database as well.
TEMPLATE_LIMIT = 65_535
# Greater than the maximum length of a secret, because an encrypted secret is longer.
_SECRET_LIMIT = 1000


class WebhookEvent(models.TextChoices):
    """Events of which webhooks are notified, by their names in Mastodon."""

    ACCOUNT_APPROVED = "account.approved", _("Somebody can use their account from now on")
    ACCOUNT_CREATED = "account.created", _("Somebody has signed up")
    ACCOUNT_UPDATED = "account.updated", _("An account of this server was changed, limited or suspended")
    REPORT_CREATED = "report.created", _("A report was filed")
    REPORT_UPDATED = "report.updated", _("A report was changed, settled or opened again")
    STATUS_CREATED = "status.created", _("Somebody here has published a post")
    STATUS_UPDATED = "status.updated", _("Somebody here has edited a post")


class Webhook(models.Model):
    """An address that is notified of `events`. `secret`, stored encrypted, is the key that signs the calls. `template` is
    the body of the calls, with variables; without a template the event is sent as JSON.
    """

    url = models.TextField()
    events = ArrayField(models.TextField(choices=WebhookEvent.choices), default=list)
    secret = models.TextField()
    template = models.TextField(default="", blank=True, db_default="")
    enabled = models.BooleanField(default=True, db_default=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        constraints = [
            lengths(
                "moderation_webhook_lengths",
                url=URI_LIMIT,
                events=OBJECT_LIMIT,
                secret=_SECRET_LIMIT,
                template=TEMPLATE_LIMIT,
            ),
        ]

    def __str__(self) -> str:
        return self.url


class WebhookCall(WaitingRow):
    """A queued call of a webhook, with the event and the body. `host` includes the webhook's id, so that a failing webhook does
    not pause other webhooks on the same host.
    """

    queue = "webhooks"
    due = WebhookCallsDue

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="calls")
    event = models.TextField()
    body = models.TextField()

    class Meta(WaitingRow.Meta):
        constraints = [
            lengths(
                "moderation_webhookcall_lengths",
                last_error=MESSAGE_LIMIT,
                host=HOST_LIMIT,
                event=WORD_LIMIT,
                body=DOCUMENT_LIMIT,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} for {self.webhook_id}"


class WebhookAttempt(models.Model):
    """An attempt to call a webhook: the HTTP status (None: no response), the error (empty: success), and the duration."""

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    event = models.TextField()
    status = models.SmallIntegerField(null=True)
    error = models.TextField(default="", db_default="")
    milliseconds = models.IntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["webhook", "-id"], name="moderation_attempt_webhook")]
        constraints = [lengths("moderation_webhookattempt_lengths", event=WORD_LIMIT, error=MESSAGE_LIMIT)]

    def __str__(self) -> str:
        return f"{self.event}: {self.status or self.error}"
