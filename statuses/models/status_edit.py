"""What edited posts were before."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from social.kernel import clock
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import OBJECT_LIMIT, lengths
from statuses.models.quote import Quote
from statuses.models.status import CONTENT_LIMIT, Status


class StatusEdit(models.Model):
    """A version of `status` that an edit has replaced; the current one stands in the post itself.

    `created_at` is when it was written: of the first version the post's own time. `media_ids` are its files in their order,
    each described by the text at its place in `media_descriptions`. `poll_options` is None without a poll.
    """

    id = SnowflakeField(primary_key=True)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="edits", db_index=False)
    text = models.TextField(default="")
    content = models.TextField(default="")
    spoiler_text = models.TextField(default="")
    sensitive = models.BooleanField(default=False)
    media_ids = ArrayField(models.BigIntegerField(), default=list)
    media_descriptions = ArrayField(models.TextField(null=True), default=list)
    poll_options = ArrayField(models.TextField(), null=True)
    quote = models.ForeignKey(Quote, null=True, on_delete=models.SET_NULL, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths(
                "statuses_statusedit_lengths",
                text=CONTENT_LIMIT,
                content=CONTENT_LIMIT,
                spoiler_text=CONTENT_LIMIT,
                media_descriptions=OBJECT_LIMIT,
                poll_options=OBJECT_LIMIT,
            )
        ]
        indexes = [
            models.Index(fields=["status", "created_at"], name="statuses_statusedit_status"),
            models.Index(fields=["quote"], name="statuses_statusedit_quote", condition=models.Q(quote__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.status_id} until {self.created_at}"
