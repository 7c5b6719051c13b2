"""What full-text search looks at."""

from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models

from statuses.models import Status


class SearchDocument(models.Model):
    """The words of a post, and what can be asked of it, as `timelines.services.search_index` writes them. Boosts have none."""

    status = models.OneToOneField(Status, primary_key=True, on_delete=models.CASCADE, related_name="+")
    words = SearchVectorField()

    class Meta:
        indexes = [GinIndex(fields=["words"], name="timelines_document_words")]

    def __str__(self) -> str:
        return f"{self.status_id}"
