"""Which other servers there are."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower

from social.kernel import clock
from social.kernel.lengths import HOST_LIMIT, lengths


class Domain(models.Model):
    """A server we have met, by its lower-case Punycode name; what staff decided about it is in `moderation`."""

    name = models.TextField(unique=True)
    first_seen_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            lengths("accounts_domain_lengths", name=HOST_LIMIT),
            models.CheckConstraint(condition=models.Q(name=Lower("name")), name="accounts_domain_lower_case"),
        ]

    def __str__(self) -> str:
        return self.name
