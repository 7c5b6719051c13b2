"""Muted conversations: who gets no notifications of which conversation."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock


class ConversationMute(models.Model):
    """`account` gets no notifications of the thread whose first known post is `thread_id`.

    No foreign key: the first post may be deleted while the thread goes on. When its own parent arrives from another
    server, the row follows the thread to its new first post.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    thread_id = models.BigIntegerField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "thread_id"], name="statuses_conversation_mute_pair")]
        indexes = [models.Index(fields=["thread_id"], name="statuses_conversation_mute_th")]

    def __str__(self) -> str:
        return f"{self.account_id} mutes {self.thread_id}"
