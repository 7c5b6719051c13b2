"""Reads single posts, always as somebody in particular."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db.models import QuerySet

from accounts.policies.relations import Relations
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import Status
from statuses.policies.visibility import visible_to
from statuses.queries.page import select
from statuses.queries.rows import Row


class Post(NamedTuple):
    """A post that was found for a viewer, and how the viewer stands to its people."""

    row: Row
    relations: Relations


def list_statuses(viewer_id: int | None) -> QuerySet[Status]:
    """All posts the viewer may read."""
    return Status.objects.filter(visible_to(viewer_id))


def find_post(status_id: Any, viewer_id: int | None) -> Post:
    """The post with this id, if the viewer may read it; two queries, one if anonymous.

    Raises NotFound alike for what does not exist and what may not be read (security row 19).
    """
    number = parse_id(status_id)
    if number is not None:
        page = select([number], viewer_id)
        if page.rows:
            return Post(page.rows[0], page.relations)
    raise NotFound


def find_own_status(status_id: Any, account_id: int) -> Status:
    """The account's own post. Raises NotFound for anybody else's, as if there were none."""
    number = parse_id(status_id)
    if number is not None:
        own = Status.objects.filter(id=number, account_id=account_id, deleted_at=None).first()
        if own is not None:
            return own
    raise NotFound
