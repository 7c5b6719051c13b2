"""The rules of this server that people agree to when they sign up."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from social.kernel import clock
from social.kernel.lengths import OBJECT_LIMIT, lengths

RULE_LIMIT = 1000
HINT_LIMIT = 10_000


class InstanceRule(models.Model):
    """One rule; a withdrawn one keeps its row because reports may name it."""

    text = models.TextField()
    hint = models.TextField(default="", blank=True)
    # {"de": {"text": str, "hint": str}}
    translations = models.JSONField(default=dict, blank=True)
    position = models.IntegerField(default=0)
    created_at = models.DateTimeField(default=clock.now)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("rules")
        constraints = [
            lengths("moderation_instancerule_lengths", text=RULE_LIMIT, hint=HINT_LIMIT, translations=OBJECT_LIMIT)
        ]
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.text
