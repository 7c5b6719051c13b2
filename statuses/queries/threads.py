"""Reads the thread around a post: what it answers, and what answers it (contract, behaviours section 7 "Context")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from social.kernel.statements import fetch
from statuses.policies.visibility import may_be_listed
from statuses.queries.page import Page, fill, select
from statuses.queries.rows import Row


@dataclass(frozen=True)
class Reach:
    """How much of a thread is shown; `depth` counts generations below the post."""

    ancestors: int
    descendants: int
    depth: int


FOR_ANYBODY: Final = Reach(ancestors=40, descendants=60, depth=20)
FOR_USERS: Final = Reach(ancestors=4096, descendants=4096, depth=4096)

_PLACE: Final = "SELECT thread_id, thread_path, conversation_uri FROM statuses_status WHERE id = %(id)s"
# The path keeps the ids of deleted posts: it is cut where a post is deleted, or answers nothing any more.
_GAP: Final = "(deleted_at IS NOT NULL OR in_reply_to_id IS NULL)"
_PATH, _GAP_ABOVE, _BELOW = range(3)
_THREAD: Final = f"""
WITH here AS MATERIALIZED (
  SELECT COALESCE(thread_id, id) AS thread_id, COALESCE(thread_path, ARRAY[id]) AS path FROM statuses_status WHERE id = %(id)s),
below AS MATERIALIZED (
  SELECT id, in_reply_to_id, thread_path, {_GAP} AS is_gap FROM statuses_status
   WHERE thread_id = (SELECT thread_id FROM here) AND %(id)s = ANY(thread_path) AND id <> %(id)s
     AND array_length(thread_path, 1) <= array_position(thread_path, %(id)s) + %(depth)s)
SELECT {_PATH}, NULL::bigint, NULL::bigint, path FROM here
UNION ALL
SELECT {_GAP_ABOVE}, id, (deleted_at IS NOT NULL)::int, NULL FROM statuses_status
 WHERE id = ANY((SELECT path FROM here)::bigint[]) AND {_GAP}
UNION ALL
(SELECT {_BELOW}, id, in_reply_to_id, NULL FROM below
  WHERE NOT thread_path && ARRAY(SELECT id FROM below WHERE is_gap) ORDER BY id LIMIT %(limit)s)
"""  # noqa: S608 (constants)


@dataclass(frozen=True)
class Context:
    """The rows of a thread around a post: `ancestors` root first, `descendants` in the order of the tree.

    Together they are the rows of `page`, ancestors first, ready to be shown.
    """

    page: Page
    ancestors: list[Row]
    descendants: list[Row]


@dataclass(frozen=True)
class Place:
    """Where a post stands: `path` are the ids from the first known post of the thread down to this one."""

    id: int
    account_id: int
    in_reply_to_account_id: int | None
    thread_root_id: int
    path: list[int]
    conversation_uri: str | None


def load_place(row: Row) -> Place:
    """The place of a post in its thread; one query."""
    found = fetch(_PLACE, {"id": row.id})
    thread_id, path, conversation_uri = found[0] if found else (None, None, None)
    return Place(
        id=row.id,
        account_id=row.account_id,
        in_reply_to_account_id=row.in_reply_to_account_id,
        thread_root_id=thread_id or row.id,
        path=path or [row.id],
        conversation_uri=conversation_uri,
    )


def load_context(row: Row, viewer_id: int | None) -> Context:
    """The thread around a post for a viewer, in at most seven queries.

    What the viewer may not read is left out, also posts of authors they block or mute, and of limited authors they do
    not follow; answers to those stay. Answers to a deleted post have left the thread, with everything below them.
    Children come in the order of their ids, an author's answers to themselves first. The oldest descendants win where
    there are more than may be shown.
    """
    reach = FOR_ANYBODY if viewer_id is None else FOR_USERS
    above, parents = _load_thread(row.id, reach)
    page = select([*above[-reach.ancestors :], *parents], viewer_id, may_be_listed)
    ancestors = [row for row in page.rows if row.id not in parents]
    below = [row for row in page.rows if row.id in parents]
    descendants = in_tree_order(below, parents, root_id=row.id, root_author_id=row.account_id)
    page.rows = ancestors + descendants
    return Context(page=fill(page), ancestors=ancestors, descendants=descendants)


def _load_thread(status_id: int, reach: Reach) -> tuple[list[int], dict[int, int]]:
    """The ids above a post, root first, down from the nearest post that answers nothing any more; and those below, oldest
    first, each with that of its parent.
    """
    path: list[int] = [status_id]
    gaps: dict[int, int] = {}
    parents: dict[int, int] = {}
    for kind, number, other, found in fetch(
        _THREAD, {"id": status_id, "depth": reach.depth, "limit": reach.descendants}
    ):
        if kind == _PATH:
            path = found
        else:
            (gaps if kind == _GAP_ABOVE else parents)[number] = other
    for index in range(len(path) - 1, -1, -1):
        if path[index] in gaps:
            return path[index + gaps[path[index]] : -1], parents
    return path[:-1], parents


def in_tree_order(rows: list[Row], parents: Mapping[int, int], *, root_id: int, root_author_id: int) -> list[Row]:
    """Rows depth first: each before its answers, an author's answers to themselves before those of others.

    `parents` may name posts that are not among the rows: their answers stand under the nearest ancestor that is.
    """
    authors = {row.id: row.account_id for row in rows} | {root_id: root_author_id}
    children: dict[int, list[Row]] = {}
    for row in rows:
        parent_id = parents.get(row.id, root_id)
        while parent_id not in authors:
            parent_id = parents.get(parent_id, root_id)
        children.setdefault(parent_id, []).append(row)
    ordered: list[Row] = []
    waiting = _last_first(children.get(root_id, []), root_author_id)
    while waiting:
        row = waiting.pop()
        ordered.append(row)
        waiting.extend(_last_first(children.get(row.id, []), row.account_id))
    return ordered


def _last_first(siblings: list[Row], parent_author_id: int) -> list[Row]:
    return sorted(siblings, key=lambda row: (row.account_id != parent_author_id, row.id), reverse=True)
