"""Reads the versions of a post, the current one included."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from dataclasses import replace
from datetime import datetime

from django.db.models import Q

from social.kernel.errors import require_found
from social.kernel.text.markup import plain
from statuses.models import MediaAttachment, StatusEdit
from statuses.policies.posts import READ_COLUMNS, VERSION_COLUMNS, Post, PostBody
from statuses.queries.posts import load_bodies


def load_earlier_words(status_ids: Collection[int]) -> dict[int, list[tuple[datetime, str]]]:
    """Load the earlier versions of posts as text, each with the time from which it applied, by post id, oldest first. One
    query. Only for staff, because permissions are not checked.
    """
    found: dict[int, list[tuple[datetime, str]]] = {}
    edits = StatusEdit.objects.filter(status_id__one_of=list(status_ids)).order_by("created_at", "id")
    for edit in edits if status_ids else ():
        texts = [getattr(edit, name) for name in READ_COLUMNS]
        words = [*texts, plain(edit.content), *(edit.poll_options or ()), *edit.media_descriptions]
        found.setdefault(edit.status_id, []).append((edit.created_at, " ".join(part for part in words if part)))
    return found


def load_history(post: Post) -> list[tuple[Post, PostBody]]:
    """Return a post, which is not a boost, in each of its versions, oldest first, with the file descriptions of that time.
    `edited_at` of a body is the time from which that version applied; None for the first. Three queries, one for a post that
    was never edited.
    """
    body = require_found(load_bodies([post.id]).get(post.id))
    if body.edited_at is None:
        return [(post, body)]
    edits = StatusEdit.objects.filter(status_id=post.id).order_by("created_at", "id")
    own = MediaAttachment.objects.filter(Q(status_id=post.id) | Q(former_status_id=post.id))
    files = {media.id: media for media in own}
    return [*(_version(post, body, edit, files) for edit in edits), (post, body)]


def _version(post: Post, body: PostBody, edit: StatusEdit, files: dict[int, MediaAttachment]) -> tuple[Post, PostBody]:
    media = []
    for number, description in zip(edit.media_ids, edit.media_descriptions, strict=True):
        if number in files:
            media.append(copy(files[number]))
            media[-1].description = description
    quote_state = post.quote_state if edit.quote_id is not None else None
    return replace(post, sensitive=edit.sensitive, quote_state=quote_state), replace(
        body,
        **{name: getattr(edit, name) for name in VERSION_COLUMNS},
        media=media,
        poll_options=edit.poll_options or [],
        edited_at=edit.created_at,
    )
