"""Knows what has been deleted elsewhere, so that it cannot arrive afterwards."""

from __future__ import annotations

from django.db import models

from social.kernel import clock


class Tombstone(models.Model):
    """The id of a remote object that was deleted, or (with `expires_at`) of an activity that was undone before it came.

    A late Create of it is refused (contract, federation sections 5 and 7).
    """

    uri = models.TextField(unique=True)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["expires_at"],
                name="federation_tombstone_expiry",
                condition=models.Q(expires_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.uri
