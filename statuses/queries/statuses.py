"""Reads single posts, always as somebody in particular."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from accounts.policies.relations import Relations
from accounts.queries.relations import load_relations
from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from social.kernel.text.plain import plain
from statuses.models import Status
from statuses.policies.visibility import can_see, visible_to
from statuses.queries.page import select
from statuses.queries.rows import Row, load_rows


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
        page = select([number], viewer_id, with_hiding=True)
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


def load_existing(status_id: Any) -> Row | None:
    """The post with this id, whoever may read it; None for one that is deleted, or whose author is suspended."""
    number = parse_id(status_id)
    for row in load_rows([number]) if number is not None else []:
        if not row.is_deleted and not row.proper.is_deleted and not row.proper.is_author_suspended:
            return row
    return None


def find_existing(status_id: Any) -> Row:
    """As `load_existing`. Raises NotFound instead of answering None."""
    row = load_existing(status_id)
    if row is None:
        raise NotFound
    return row


def find_page_url(row: Row) -> str:
    """The address of a post's page. A query for one of another server."""
    if row.local:
        return links.status_url(row.username, row.id)
    url = Status.objects.filter(id=row.id).values_list("url", flat=True).first()
    return url or row.uri or ""


def is_readable(row: Row, account_id: int) -> bool:
    """Whether the account may read the post. One query."""
    relations = load_relations(account_id, [row.account_id, row.proper.account_id])
    return can_see(row, account_id, relations, row.mentioned_ids)


def require_readable(row: Row | None, account_id: int) -> Row:
    """The post, if the account may read it. Raises NotFound, after the same work for none at all (security row 19)."""
    people = [row.account_id, row.proper.account_id] if row is not None else [0]
    relations = load_relations(account_id, people)
    if row is None or not can_see(row, account_id, relations, row.mentioned_ids):
        raise NotFound
    return row


class Excerpt(NamedTuple):
    """A post as a list names it: the address of its page and its words, warning first, as plain text."""

    id: int
    url: str
    words: str
    visibility: str


def list_excerpts(status_ids: Sequence[int], account_id: int) -> list[Excerpt]:
    """Those of these posts that are the account's, oldest first, deleted ones too: for their author and for staff."""
    if not status_ids:
        return []
    found = Status.objects.select_related("account").filter(id__one_of=list(status_ids), account_id=account_id)
    return [
        Excerpt(
            status.id,
            links.status_url(status.account.username, status.id) if status.local else status.url or status.uri or "",
            " ".join(part for part in (status.spoiler_text, plain(status.content)) if part),
            status.visibility,
        )
        for status in found.order_by("id")
    ]
