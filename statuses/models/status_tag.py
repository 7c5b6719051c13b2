"""Which post carries which hashtag."""

from __future__ import annotations

from django.db import models

from accounts.models import Tag
from statuses.models.status import Status


class StatusTag(models.Model):
    """A hashtag in a post, in the order of the text."""

    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="status_tags", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["status", "tag"], name="statuses_statustag_pair")]
        indexes = [models.Index(fields=["tag", "-status"], name="statuses_statustag_tag")]

    def __str__(self) -> str:
        return f"{self.status_id} #{self.tag_id}"
