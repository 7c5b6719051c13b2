"""Stores posts written on other servers: fetched or sent, sanitised and clamped by whoever calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Q

from social.kernel.batches import BATCH
from social.kernel.events import publish
from social.kernel.locks import lock
from statuses.events import StatusJoinedThread
from statuses.models import MediaAttachment, MediaType, Processing, Status
from statuses.policies.visibility import FOR_ANYBODY
from statuses.services.counters import bump
from statuses.services.revising import Revision, store_revision
from statuses.services.storing import NewStatus, revise_quote, store_status


@dataclass(frozen=True)
class RemoteFile:
    """A file that stays where it is; `meta` is the entity's own."""

    url: str
    type: str = MediaType.UNKNOWN
    content_type: str = ""
    description: str | None = None
    blurhash: str | None = None
    preview_url: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)


def publish_remote_status(*, new: NewStatus, files: Sequence[RemoteFile] = ()) -> Status | None:
    """Store a post of another server and publish StatusPublished; None when its `uri` is known already.

    Two at once for one `uri` make one post. Answers to it that came before are joined to it (docs/adr/0005);
    StatusJoinedThread is published for them.
    """
    if new.uri is None:
        raise ValueError("a remote post has an id of its own")
    with transaction.atomic():
        lock(f"status:{new.uri}")
        if Status.objects.filter(uri=new.uri).exists():
            return None
        if files:
            media = MediaAttachment.objects.bulk_create((_media(new, file) for file in files), batch_size=BATCH)
            new = replace(new, media_ids=[item.id for item in media])
        status = store_status(new)
        _adopt_orphans(status)
    return status


def revise_remote_status(*, status_id: int, new: NewStatus, files: Sequence[RemoteFile], edited_at: datetime) -> bool:
    """Store an edit of a post of another server, and publish StatusEdited; whether anything has changed.

    Nothing happens for an edit that is not newer than the last, nor for a deleted post. Who may read the post, what it
    answers, its poll and its counts stay. Another post that it quotes takes the place of the one before.
    """
    with transaction.atomic():
        status = Status.objects.select_for_update().filter(id=status_id, deleted_at=None).first()
        if status is None or edited_at <= (status.edited_at or status.created_at):
            return False
        media, described = _revised_media(status, new, files)
        revision = Revision(
            content=new.content,
            spoiler_text=new.spoiler_text,
            sensitive=new.sensitive,
            language=new.language,
            mentions=new.mentions,
            silent=new.silent,
            tags=new.tags,
            media=media,
            changed_media=described,
            keeps_poll=True,
            quote_policy=new.quote_policy,
            has_link=new.has_link,
            edited_at=edited_at,
        )
        counts = revise_quote(status, new.quote)
        changed = store_revision(status, revision, changed=counts is not None)
        bump(counts or {})
        return changed


def _revised_media(
    status: Status, new: NewStatus, files: Sequence[RemoteFile]
) -> tuple[list[MediaAttachment], list[int]]:
    """The files of an edited post, by their addresses those that were known before, and the ids of those described anew."""
    rows = MediaAttachment.objects.filter(Q(status=status) | Q(former_status=status)).order_by("-position", "-id")
    known = {media.remote_url: media for media in rows}
    media: list[MediaAttachment] = []
    described: list[int] = []
    for file in files:
        row = known.pop(file.url, None)
        if row is None:
            row = _media(new, file)
            row.save(force_insert=True)
        elif (row.description, row.meta.get("focus")) != (file.description, file.meta.get("focus")):
            row.description, row.meta = file.description, row.meta | file.meta
            described.append(row.id)
        media.append(row)
    return media, described


def _media(new: NewStatus, file: RemoteFile) -> MediaAttachment:
    return MediaAttachment(
        account=new.author,
        type=file.type,
        processing=Processing.COMPLETE,
        content_type=file.content_type,
        remote_url=file.url,
        preview_remote_url=file.preview_url,
        meta=file.meta,
        description=file.description,
        blurhash=file.blurhash,
    )


# Answers that name the post as what they answer, and are not above it: two posts that answer each other would make each
# its own ancestor. An answer whose own parent is unknown is the root of its thread.
_ORPHANS = """
    in_reply_to_uri = %(uri)s AND in_reply_to_id IS NULL AND id <> %(root)s AND id <> ALL(%(path)s::bigint[])
"""
# The answer and everything below it get the new path in front of their own.
_MOVE_SUBTREES = f"""
WITH orphan AS (
    SELECT COALESCE(thread_path, ARRAY[id]) AS path FROM statuses_status WHERE {_ORPHANS}
), answers AS (
    SELECT s.id, COALESCE(s.thread_path, ARRAY[s.id]) AS path, cardinality(o.path) AS depth
    FROM orphan o JOIN statuses_status s
      ON s.id = o.path[cardinality(o.path)]
      OR (s.thread_id = o.path[1] AND s.thread_path[1:cardinality(o.path)] = o.path)
)
UPDATE statuses_status s
SET thread_id = %(root)s, thread_path = %(path)s::bigint[] || answers.path[answers.depth:]
FROM answers WHERE s.id = answers.id
"""  # noqa: S608 (constants)
_JOIN = f"""
UPDATE statuses_status SET in_reply_to_id = %(parent)s, in_reply_to_account_id = %(author)s, version = version + 1
WHERE {_ORPHANS} RETURNING id, account_id, visibility = ANY(%(counted)s) AND deleted_at IS NULL
"""  # noqa: S608 (constants)

# Threads whose first post has got a parent are part of the parent's thread now.
_MOVE_MUTES = """
WITH moved AS (DELETE FROM statuses_conversationmute WHERE thread_id = ANY(%(roots)s) RETURNING account_id, created_at)
INSERT INTO statuses_conversationmute (account_id, thread_id, created_at)
SELECT DISTINCT ON (account_id) account_id, %(root)s, created_at FROM moved
ON CONFLICT (account_id, thread_id) DO NOTHING
"""


def _adopt_orphans(status: Status) -> None:
    if not Status.objects.filter(in_reply_to_uri=status.uri, in_reply_to=None).exists():
        return
    values = {
        "uri": status.uri,
        "parent": status.id,
        "author": status.account_id,
        "root": status.thread_root_id,
        "path": status.path,
        "counted": list(FOR_ANYBODY),
    }
    with connection.cursor() as cursor:
        cursor.execute(_MOVE_SUBTREES, values)
        cursor.execute(_JOIN, values)
        joined = cursor.fetchall()
        cursor.execute(_MOVE_MUTES, {"root": status.thread_root_id, "roots": [row[0] for row in joined]})
    publish(*(StatusJoinedThread(status_id=number, account_id=account) for number, account, _counts in joined))
    bump({(status.id, "replies_count"): sum(counts for _number, _account, counts in joined)})
