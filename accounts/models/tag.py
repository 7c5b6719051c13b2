"""Knows hashtags."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from social.kernel import clock
from social.kernel.ids import SnowflakeField

# Normalising can make a name many times longer.
TAG_LIMIT = 500


class Tag(models.Model):
    """A hashtag by its normalised name; `display_name` is how it was first written."""

    id = SnowflakeField(primary_key=True)
    name = models.TextField(unique=True)
    display_name = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(name__length__lte=TAG_LIMIT), name="accounts_tag_name_length"),
        ]

    def __str__(self) -> str:
        return f"#{self.display_name}"
