"""What other servers have sent, from the moment it was answered with 202 until it has been processed."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.lengths import DOCUMENT_LIMIT, HOST_LIMIT, MESSAGE_LIMIT, NAME_LIMIT, URI_LIMIT, lengths


class InboundActivity(models.Model):
    """One signed activity. `body` is the JSON as it was sent, of `size` bytes, and empty once it was acted upon; `host` is
    its actor's; `fingerprint` is made of the key's id and the signature.

    The same signature a second time is a replay: the unique fingerprint refuses it (security row 11). `outcome` says
    what became of it, for people who look. `recipient` is whose inbox it came to, None for the shared one.
    """

    fingerprint = models.TextField(unique=True)
    actor = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    recipient = models.ForeignKey(Account, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    type = models.TextField()
    uri = models.TextField(default="")
    body = models.TextField()
    host = models.TextField(default="")
    size = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    outcome = models.TextField(default="")
    received_at = models.DateTimeField(default=clock.now)
    processed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("inbound activity")
        verbose_name_plural = _("inbound activities")
        constraints = [
            lengths(
                "federation_inboundactivity_lengths",
                fingerprint=NAME_LIMIT,
                type=NAME_LIMIT,
                uri=URI_LIMIT,
                body=DOCUMENT_LIMIT,
                host=HOST_LIMIT,
                outcome=MESSAGE_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["actor", "id"], name="federation_inbound_actor"),
            models.Index(
                fields=["host", "actor"], name="federation_inbound_waiting", condition=Q(processed_at__isnull=True)
            ),
            models.Index(
                fields=["recipient"], name="federation_inbound_recipient", condition=Q(recipient__isnull=False)
            ),
            models.Index(
                fields=["processed_at"], name="federation_inbound_processed", condition=Q(processed_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.uri}"
