"""Conversations: the direct posts of a thread among the same people."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import Account
from social.kernel.ids import SnowflakeField
from social.kernel.lengths import MESSAGE_LIMIT, lengths
from statuses.models import Status


class Conversation(models.Model):
    """What `account`, a local one, has of a thread among the same people.

    `participants` are the others' account ids in ascending order, none for a note to oneself, and `key` is made of them.
    `last_status` is the newest of the posts in it.
    """

    id = SnowflakeField(primary_key=True)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    thread_id = models.BigIntegerField()
    participants = ArrayField(models.BigIntegerField())
    key = models.TextField()
    last_status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="+")
    unread = models.BooleanField(default=False)

    class Meta:
        constraints = [
            lengths("timelines_conversation_lengths", key=MESSAGE_LIMIT),
            models.UniqueConstraint(fields=["account", "thread_id", "key"], name="timelines_conversation_key"),
        ]
        indexes = [models.Index(fields=["account", "-last_status"], name="timelines_conversation_account")]

    def __str__(self) -> str:
        return f"{self.account_id}: {self.thread_id} with {self.participants}"


class ConversationPost(models.Model):
    """A post of a conversation."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="posts", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "status"], name="timelines_conversationpost_pair")
        ]

    def __str__(self) -> str:
        return f"{self.status_id} in {self.conversation_id}"
