"""Fetches from other servers that wait to be made in the background."""

from __future__ import annotations

from enum import StrEnum

from django.db import models
from django.db.models import F, Q

from federation.models.inbound import InboundActivity
from social.kernel.claims import LeasedRow
from social.kernel.lengths import ADDRESS_LIMIT, HOST_LIMIT, MESSAGE_LIMIT, WORD_LIMIT, lengths


class FetchKind(StrEnum):
    """What a document is wanted for."""

    ACTIVITY = "activity"
    POST = "post"
    ACTOR = "actor"
    ADDRESS = "address"


class Fetch(LeasedRow):
    """Something to be fetched from `host`, once however many want it; deleted when it is done.

    `uri` is the id of the post or actor, the address of an account, or the number of the activity. `remaining` is how many
    posts above this one may still be fetched for the activity that began it. A dead row is kept for some hours: until then
    nobody asks again.
    """

    kind = models.TextField()
    uri = models.TextField()
    host = models.TextField()
    activity = models.ForeignKey(InboundActivity, null=True, on_delete=models.CASCADE, related_name="+")
    remaining = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [
            lengths(
                "federation_fetch_lengths",
                last_error=MESSAGE_LIMIT,
                kind=WORD_LIMIT,
                uri=ADDRESS_LIMIT,
                host=HOST_LIMIT,
            ),
            models.UniqueConstraint(fields=["kind", "uri"], name="federation_fetch_once"),
        ]
        indexes = [
            models.Index(
                F("host"), F("due_at"), F("id"), name="federation_fetch_due", condition=Q(dead_at__isnull=True)
            ),
            models.Index(fields=["dead_at"], name="federation_fetch_dead", condition=Q(dead_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uri}"
