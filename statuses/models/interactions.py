"""Models of favourites, bookmarks and pins of posts, of muted conversations, and of imported posts."""

from django.db import models

from accounts.models import Account
from accounts.transfers.models import PastImport
from social.kernel import clock
from social.kernel.lengths import URI_LIMIT, lengths
from statuses.models.status import Status


class Favourite(models.Model):
    """Favourite of `status` (never a boost) by `account`, who can favourite a post only once. `uri` is the id of a remote Like,
    otherwise NULL.
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
    """Bookmark of `status` (never a boost) by `account`, who can bookmark a post only once. Visible only to `account`."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="bookmarks", db_index=False)
    status = models.ForeignKey(Status, on_delete=models.CASCADE, related_name="bookmarks")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "status"], name="statuses_bookmark_pair")]
        indexes = [models.Index(fields=["account", "-id"], name="statuses_bookmark_account")]


class Pin(models.Model):
    """Pin of `status` on the profile of its author, `account`. The newest pin has the highest id."""

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="pins")
    status = models.OneToOneField(Status, on_delete=models.CASCADE, related_name="pin")
    created_at = models.DateTimeField(default=clock.now)


class ConversationMute(models.Model):
    """Mute by `account` of the conversation whose first known post is `thread_id`: the account gets no notifications about it.

    `thread_id` is not a foreign key, because the conversation outlives a deleted first post. When the parent of the first post
    arrives, `thread_id` becomes the conversation's new first post.
    """

    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    thread_id = models.BigIntegerField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "thread_id"], name="statuses_conversation_mute_pair")]
        indexes = [models.Index(fields=["thread_id"], name="statuses_conversation_mute_th")]


class ImportedPost(models.Model):
    """Origin of an imported post: its id (`uri`) and page at its former server. An account can import a `uri` only once."""

    status = models.OneToOneField(Status, primary_key=True, on_delete=models.CASCADE, related_name="imported")
    batch = models.ForeignKey(PastImport, null=True, on_delete=models.SET_NULL, related_name="posts", db_index=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    uri = models.TextField()
    url = models.TextField(default="")

    class Meta:
        constraints = [
            lengths("statuses_importedpost_lengths", uri=URI_LIMIT, url=URI_LIMIT),
            models.UniqueConstraint(fields=["account", "uri"], name="statuses_importedpost_once"),
        ]
        indexes = [
            models.Index(
                fields=["batch", "status"], name="statuses_importedpost_batch", condition=models.Q(batch__isnull=False)
            )
        ]
