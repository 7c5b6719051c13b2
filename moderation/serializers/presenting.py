"""How announcements become entities: one way for REST and streaming."""

from __future__ import annotations

from typing import Any

from moderation.queries.announcements import ShownAnnouncements
from moderation.serializers.announcement import AnnouncementSerializer
from statuses.serializers.presenting import present_by_id


def present_announcements(shown: ShownAnnouncements) -> list[dict[str, Any]]:
    """The entities, in their order."""
    context = {"shown": shown, "statuses": present_by_id(shown.statuses)}
    entities: list[dict[str, Any]] = AnnouncementSerializer(shown.rows, many=True, context=context).data
    return entities
