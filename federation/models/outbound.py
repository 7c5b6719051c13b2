"""Activities that wait to be delivered, one row per inbox."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.claims import LeasedRow
from social.kernel.lengths import DOCUMENT_LIMIT, HOST_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, URI_LIMIT, WORD_LIMIT, lengths


class OutboundActivity(models.Model):
    """An activity as it will be sent, signed by `account`; deleted with the last of its deliveries."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    type = models.TextField()
    uri = models.TextField()
    body = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("outbound activity")
        verbose_name_plural = _("outbound activities")
        constraints = [
            lengths("federation_outboundactivity_lengths", type=WORD_LIMIT, uri=URI_LIMIT, body=DOCUMENT_LIMIT)
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.uri}"


class Delivery(LeasedRow):
    """One activity for one inbox; deleted when it has arrived.

    Deliveries of one `key` (the thing they are about, `status:12`) to one inbox go out in the order of their ids.
    It is dead when the receiver refused it for good, or after the last attempt.
    """

    activity = models.ForeignKey(OutboundActivity, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    inbox_url = models.TextField()
    host = models.TextField()
    key = models.TextField()

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        constraints = [
            lengths(
                "federation_delivery_lengths",
                last_error=MESSAGE_LIMIT,
                inbox_url=URI_LIMIT,
                host=HOST_LIMIT,
                key=NAME_LIMIT,
            ),
            models.UniqueConstraint(fields=["activity", "inbox_url"], name="federation_delivery_once"),
        ]
        indexes = [
            models.Index(
                F("host"), F("due_at"), F("id"), name="federation_delivery_due", condition=Q(dead_at__isnull=True)
            ),
            models.Index(
                fields=["key", "inbox_url", "id"],
                name="federation_delivery_lane",
                condition=Q(dead_at__isnull=True),
            ),
            models.Index(fields=["dead_at"], name="federation_delivery_given_up", condition=Q(dead_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.activity_id} -> {self.inbox_url}"
