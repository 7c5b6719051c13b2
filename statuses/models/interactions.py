"""Likes, bookmarks and pins of posts, and mutes of their threads."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from social.kernel import clock
from social.kernel.lengths import URI_LIMIT, lengths
from statuses.models.status import Status


class Favourite(models.Model):
    """`account` likes `status`, once; never a boost, always the post that was boosted.

    `uri` is the id of the remote Like that made it; NULL for ours, which follows from the row's id.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="favourites", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="favourites", db_index=False)
    uri = models.TextField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("statuses_favourite_lengths", uri=URI_LIMIT),
            models.UniqueConstraint(fields=["account", "status"], name="statuses_favourite_pair"),
            models.UniqueConstraint(
                fields=["uri"], name="statuses_favourite_uri", condition=models.Q(uri__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["status", "-id"], name="statuses_favourite_status"),
            models.Index(fields=["account", "-id"], name="statuses_favourite_account"),
        ]


class Bookmark(models.Model):
    """`account` has bookmarked `status`, once; never a boost, always the post that was boosted. Nobody else learns of it."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="bookmarks", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="bookmarks")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "status"], name="statuses_bookmark_pair")]
        indexes = [models.Index(fields=["account", "-id"], name="statuses_bookmark_account")]


class Pin(models.Model):
    """`status` is pinned to the profile of its author, `account`. The newest pin has the highest id."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="pins")
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="pin")
    created_at = models.DateTimeField(default=clock.now)


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
