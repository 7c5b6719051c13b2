"""Reads how somebody uses hashtags."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import Count, Max

from accounts.models import FeaturedTag, Tag
from statuses.models import Status, StatusTag
from statuses.policies.visibility import FOR_ANYBODY

POSTS_LOOKED_AT: Final = 1000
SUGGESTED: Final = 10


def load_use(account_id: int, tag_id: int) -> tuple[int, datetime | None]:
    """How many public and unlisted posts of the account carry the hashtag, and when the last was written."""
    used = StatusTag.objects.filter(
        tag_id=tag_id,
        status__account_id=account_id,
        status__deleted_at=None,
        status__visibility__in=FOR_ANYBODY,
    ).aggregate(count=Count("id"), last=Max("status__created_at"))
    return used["count"], used["last"]


def load_suggested_tags(account_id: int) -> list[Tag]:
    """The hashtags of the account's last POSTS_LOOKED_AT posts, most used first, without those on its profile (SEED-080)."""
    recent = Status.objects.filter(account_id=account_id, deleted_at=None, reblog_of=None).order_by("-id")
    featured = FeaturedTag.objects.filter(account_id=account_id).values("tag_id")
    found = (
        StatusTag.objects.filter(status_id__in=recent.values("id")[:POSTS_LOOKED_AT])
        .exclude(tag_id__in=featured)
        .values("tag_id")
        .annotate(uses=Count("id"), last=Max("status_id"))
        .order_by("-uses", "-last")[:SUGGESTED]
    )
    ids = [row["tag_id"] for row in found]
    tags = Tag.objects.filter(id__one_of=ids).in_bulk()
    return [tags[number] for number in ids]
