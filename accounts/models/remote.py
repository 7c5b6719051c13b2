from __future__ import annotations

from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.lengths import (
    HOST_LIMIT,
    NAME_LIMIT,
    WORD_LIMIT,
    lengths,
)


class Domain(models.Model):
    """Known server, by its lower-case Punycode domain; the decisions of staff about it are in `moderation`.

    `host` last served the documents of its accounts. `software` and `version` are from its NodeInfo, requested at
    `software_asked_at`. They are empty if they are unknown. `reached_at`, the last successful request, is precise to an
    hour.
    """

    name = models.TextField(unique=True)
    host = models.TextField(default="", db_default="")
    first_seen_at = models.DateTimeField(default=clock.now)
    software = models.TextField(default="", db_default="")
    version = models.TextField(default="", db_default="")
    software_asked_at = models.DateTimeField(null=True)
    reached_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("known server")
        verbose_name_plural = _("known servers")
        constraints = [
            lengths("accounts_domain_lengths", name=HOST_LIMIT),
            lengths("accounts_domain_software_lengths", software=WORD_LIMIT, version=NAME_LIMIT),
            lengths("accounts_domain_host_lengths", host=HOST_LIMIT),
            models.CheckConstraint(condition=models.Q(name=Lower("name")), name="accounts_domain_lower_case"),
        ]
        indexes = [models.Index(fields=["host"], name="accounts_domain_host", condition=~models.Q(host=""))]

    def __str__(self) -> str:
        return self.name
