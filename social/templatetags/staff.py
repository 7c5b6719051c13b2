"""Template tags of the admin."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import template

from social.api.staff_navigation import place_of
from social.api.staff_undo import undoable

register = template.Library()


@register.simple_tag(takes_context=True)
def last_decision(context: Any) -> dict[str, Any] | None:
    """Return the staff member's last decisions while they can be undone; None on pages without a session."""
    request = context.get("request")
    return undoable(request) if request is not None and hasattr(request, "session") else None


@register.simple_tag
def sidebar_line(parts: Sequence[Mapping[str, Any]]) -> dict[str, str] | None:
    """Return the group and the title of the sidebar entry for the list to which the second of these breadcrumbs leads, or None
    if there is no such entry.
    """
    return place_of(str(parts[1].get("link", ""))) if len(parts) > 1 else None
