"""Reads single polls, always as somebody in particular."""

from __future__ import annotations

from typing import Any

from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import Poll
from statuses.queries.statuses import Post, find_post


def find_poll(poll_id: Any, viewer_id: int | None) -> tuple[Poll, Post]:
    """The poll with this id and its post, if the viewer may read that.

    Raises NotFound alike for what does not exist and what may not be read (SEED-074 and 075, security row 19).
    """
    number = parse_id(poll_id)
    poll = Poll.objects.filter(id=number).first() if number is not None else None
    post = find_post(poll.status_id if poll is not None else 0, viewer_id)
    if poll is None:
        raise NotFound
    return poll, post
