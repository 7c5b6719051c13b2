"""The settings an operator changes while the server runs."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.lengths import NAME_LIMIT, OBJECT_LIMIT, lengths


class SiteSetting(models.Model):
    """One setting; the environment wins over it where both exist."""

    key = models.TextField(primary_key=True)
    value = models.JSONField()
    updated_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("setting of this server")
        verbose_name_plural = _("settings of this server")
        constraints = [lengths("accounts_sitesetting_lengths", key=NAME_LIMIT, value=OBJECT_LIMIT)]

    def __str__(self) -> str:
        return self.key
