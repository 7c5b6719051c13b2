"""The terms of service, each version with the day from which it applies."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from social.kernel import clock

TERMS_LIMIT = 200_000


class TermsOfService(models.Model):
    """One version, in Markdown; a draft until `published_at` is set. Published ones apply from their own day each."""

    text = models.TextField()
    changelog = models.TextField(default="", blank=True)
    effective_date = models.DateField(null=True, unique=True)
    published_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        verbose_name = _("terms of service")
        verbose_name_plural = _("terms of service")
        constraints = [
            models.CheckConstraint(
                condition=Q(text__length__lte=TERMS_LIMIT) & Q(changelog__length__lte=TERMS_LIMIT),
                name="moderation_terms_length",
            ),
            models.CheckConstraint(
                condition=Q(published_at=None) | Q(effective_date__isnull=False), name="moderation_terms_dated"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.effective_date or '-'}"
