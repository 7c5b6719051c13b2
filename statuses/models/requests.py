"""Model of requests to interact with a post, which the author of the post accepts or rejects (docs/adr/0044)."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import URI_LIMIT, WORD_LIMIT, lengths
from statuses.models.status import Status


class Interaction(models.TextChoices):
    """Kinds of interactions that the policy of a post can limit."""

    FAVOURITE = "favourite"
    REPLY = "reply"
    REBLOG = "reblog"


class RequestState(models.TextChoices):
    """Decision of the author of the post."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class InteractionRequest(models.Model):
    """Request of `account` to favourite, reply to or boost `status`, with the decision of the post's author. `answer` is the
    reply, which only the two authors can read until it is approved. An approved reply or boost gets `visibility`. An approved
    reply addresses the accounts in `mentioned_ids`; its text does not mention the accounts in `silent_ids`. `uri` is the id of
    a remote interaction, `request_uri` the id of the activity that requests it, and `approval_uri` the id of another server's
    authorization.
    """

    id = SnowflakeField(primary_key=True)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="interaction_requests", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+")
    kind = models.TextField(choices=Interaction.choices)
    state = models.TextField(choices=RequestState.choices, default=RequestState.PENDING)
    answer = models.OneToOneField(Status, null=True, on_delete=models.CASCADE, related_name="request")
    visibility = models.TextField(default="")
    mentioned_ids = ArrayField(models.BigIntegerField(), default=list)
    silent_ids = ArrayField(models.BigIntegerField(), default=list)
    uri = models.TextField(null=True)
    request_uri = models.TextField(null=True)
    approval_uri = models.TextField(null=True)
    created_at = models.DateTimeField(default=clock.now)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("interaction request")
        verbose_name_plural = _("interaction requests")
        constraints = [
            lengths(
                "statuses_interactionrequest_lengths",
                kind=WORD_LIMIT,
                state=WORD_LIMIT,
                visibility=WORD_LIMIT,
                uri=URI_LIMIT,
                request_uri=URI_LIMIT,
                approval_uri=URI_LIMIT,
            ),
            models.UniqueConstraint(
                fields=["status", "account", "kind"],
                name="statuses_interactionrequest_one",
                condition=~Q(kind=Interaction.REPLY),
            ),
            models.UniqueConstraint(
                fields=["request_uri"], name="statuses_interactionrequest_uri", condition=Q(request_uri__isnull=False)
            ),
        ]
        indexes = [
            models.Index(
                fields=["target", "-id"],
                name="statuses_interactionreq_wait",
                condition=Q(state=RequestState.PENDING),
            ),
            models.Index(fields=["status"], name="statuses_interactionreq_post"),
            models.Index(
                fields=["approval_uri"],
                name="statuses_interactionreq_appr",
                condition=Q(approval_uri__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id}"
