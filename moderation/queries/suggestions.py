"""Reads the accounts that are suggested to all users, for staff."""

from __future__ import annotations

from typing import Final

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import Account
from accounts.queries.discovery import list_recommended
from statuses.models import Status

RECOMMENDED_LIMIT: Final = 100
"""Number of the most followed accounts that are shown as suggested."""

_POSTS_LIMIT: Final = 50


def recommended() -> ArraySubquery:
    """Return the ids of the RECOMMENDED_LIMIT most followed accounts among those that may be suggested to all users."""
    return ArraySubquery(list_recommended().values("id")[:RECOMMENDED_LIMIT])


def writing_in(rows: QuerySet[Account], language: str) -> QuerySet[Account]:
    """Return the accounts that have one of their latest posts in a language (ISO 639)."""
    latest = Status.objects.filter(account=OuterRef(OuterRef("pk")), reblog_of=None, deleted_at=None)
    posts = Status.objects.filter(id__one_of=ArraySubquery(latest.order_by("-id").values("id")[:_POSTS_LIMIT]))
    return rows.filter(Exists(posts.filter(language=language.lower())), id__one_of=recommended())
