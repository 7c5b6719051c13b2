"""Reads scheduled posts, always as their author."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch, QuerySet

from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import ScheduledMedia, ScheduledStatus


def list_scheduled(account_id: int) -> QuerySet[ScheduledStatus]:
    """The account's scheduled posts with what their entities need, unordered: two queries."""
    files = ScheduledMedia.objects.select_related("media").order_by("position")
    return ScheduledStatus.objects.filter(account_id=account_id).prefetch_related(Prefetch("media", files))


def find_scheduled(scheduled_id: Any, account_id: int) -> ScheduledStatus:
    """The account's own scheduled post. Raises NotFound for anybody else's, as if there were none."""
    number = parse_id(scheduled_id)
    found = list_scheduled(account_id).filter(id=number).first() if number is not None else None
    if found is None:
        raise NotFound
    return found
