"""Objects deleted by their own servers, so that a late copy of them is refused."""

from __future__ import annotations

from django.db import models

from social.kernel import clock
from social.kernel.lengths import URI_LIMIT, lengths


class Tombstone(models.Model):
    """The id of a remote object that was deleted, or (with `expires_at`) of what was deleted or undone before it came.

    A late Create of it by the same actor is refused (contract, federation sections 5 and 7): nobody can forbid what
    others of the same server will write (security row 8). An actor's own has its id twice.
    """

    uri = models.TextField()
    actor_uri = models.TextField()
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            lengths("federation_tombstone_lengths", uri=URI_LIMIT, actor_uri=URI_LIMIT),
            models.UniqueConstraint(fields=["actor_uri", "uri"], name="federation_tombstone_once"),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="federation_tombstone_expiry",
                condition=models.Q(expires_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.uri
