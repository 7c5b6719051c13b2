"""Which post quotes which, and whether the author of the quoted one agrees."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import URI_LIMIT, WORD_LIMIT, lengths
from statuses.models.status import Status


class QuoteState(models.TextChoices):
    """What the author of the quoted post has said; other states that clients see depend on who looks."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    REVOKED = "revoked"


class Quote(models.Model):
    """`status` quotes `quoted_status`, never a boost; a post quotes at most one (FEP-044f).

    `quoted_uri` names a post of another server that is quoted and not known here (yet). `request_uri` is the id of the
    QuoteRequest of a quote whose author or quoted author is elsewhere, `approval_uri` that of the authorization another
    server gave. `legacy` quotes were made without asking: by the properties that came before FEP-044f.
    """

    id = SnowflakeField(primary_key=True)
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="quote")
    quoted_status = models.ForeignKey(
        Status, null=True, on_delete=models.SET_NULL, related_name="quotes", db_index=False
    )
    quoted_uri = models.TextField(null=True)
    state = models.TextField(choices=QuoteState.choices, default=QuoteState.PENDING)
    request_uri = models.TextField(null=True)
    approval_uri = models.TextField(null=True)
    legacy = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "statuses_quote_lengths",
                quoted_uri=URI_LIMIT,
                state=WORD_LIMIT,
                request_uri=URI_LIMIT,
                approval_uri=URI_LIMIT,
            ),
            models.UniqueConstraint(
                fields=["request_uri"], name="statuses_quote_request", condition=Q(request_uri__isnull=False)
            ),
        ]
        indexes = [
            models.Index(
                fields=["quoted_status", "-id"], name="statuses_quote_quoted", condition=Q(quoted_status__isnull=False)
            ),
            models.Index(
                fields=["quoted_uri"],
                name="statuses_quote_unknown",
                condition=Q(quoted_uri__isnull=False, quoted_status=None),
            ),
            models.Index(
                fields=["approval_uri"], name="statuses_quote_approval", condition=Q(approval_uri__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status_id} quotes {self.quoted_status_id}"
