"""How well other servers answer: failures, pauses, times of contact."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.lengths import HOST_LIMIT, MESSAGE_LIMIT, lengths


class Host(models.Model):
    """A server that a delivery has reached, or failed at, by its name and port.

    `failures` in a row since `failing_since`; none for a server that is well. While `retry_at` lies ahead nothing is sent
    there; afterwards one request is the probe (contract, federation section 12).
    """

    name = models.TextField(primary_key=True)
    failures = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(default=clock.now)
    retry_at = models.DateTimeField(default=clock.now)
    last_error = models.TextField(default="")

    class Meta:
        verbose_name = _("troubled server")
        verbose_name_plural = _("troubled servers")
        constraints = [lengths("federation_host_lengths", name=HOST_LIMIT, last_error=MESSAGE_LIMIT)]
        indexes = [models.Index(fields=["retry_at"], name="federation_host_retry")]

    def __str__(self) -> str:
        return self.name
