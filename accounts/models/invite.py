"""Invitations: links with which people sign up where registrations are closed."""

from __future__ import annotations

from django.db import models

from social.kernel import clock
from social.kernel.lengths import MESSAGE_LIMIT, NAME_LIMIT, lengths


class Invite(models.Model):
    """A code that `max_uses` people may sign up with (None: any number) until `expires_at` (None: for ever).

    Without an inviter it is the operator's.
    """

    code = models.TextField(unique=True)
    inviter = models.ForeignKey("accounts.User", null=True, on_delete=models.CASCADE, related_name="invites")
    uses = models.IntegerField(default=0)
    max_uses = models.IntegerField(null=True)
    expires_at = models.DateTimeField(null=True)
    autofollow = models.BooleanField(default=False)
    comment = models.TextField(default="")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_invite_lengths", code=NAME_LIMIT, comment=MESSAGE_LIMIT),
            models.CheckConstraint(
                condition=models.Q(max_uses=None) | models.Q(uses__lte=models.F("max_uses")),
                name="accounts_invite_uses",
            ),
        ]

    def __str__(self) -> str:
        return self.code
