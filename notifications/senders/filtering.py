"""Applies a recipient's own filters to mails and pushes."""

from __future__ import annotations

from typing import Final

from notifications.queries.contents import Content
from statuses.serializers.status import searched_text

_CONTEXT: Final = "notifications"


def is_hidden(content: Content) -> bool:
    """Tell whether a filter of the recipient hides the subject of a notification."""
    post = content.post
    return post is not None and content.filters.hides(searched_text(post), post.id, _CONTEXT)
