"""Model of posts that were imported from an archive of their author."""

from __future__ import annotations

from django.db import models

from accounts.models import Account
from accounts.transfers.models import PastImport
from social.kernel.lengths import URI_LIMIT, lengths
from statuses.models.status import Status


class ImportedPost(models.Model):
    """Origin of an imported post: its id (`uri`) and page at the server from which the archive came. The unique pair of
    account and `uri` makes sure that importing an archive again stores nothing twice.
    """

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
