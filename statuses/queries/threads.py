"""Reads the thread around a post: its ancestors and descendants (contract, behaviours section 7 "Context")."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from social.kernel.statements import Value, rows_of
from statuses.policies.audience import THREAD
from statuses.policies.posts import Post
from statuses.policies.visibility import CONVERSATION_VISIBILITIES, FEDERATED_POST, OPEN_VISIBILITIES
from statuses.queries.page import PostPage, fill, select


@dataclass(frozen=True)
class Reach:
    """Limits of the shown part of a thread; `depth` counts generations below the post."""

    ancestors: int
    descendants: int
    depth: int


ANONYMOUS_REACH: Final = Reach(ancestors=40, descendants=60, depth=20)
USER_REACH: Final = Reach(ancestors=4096, descendants=4096, depth=4096)

# A path still contains the ids of deleted posts, so it is read only up to a post that is deleted or is no longer a reply.
_GAP: Final = "(deleted_at IS NOT NULL OR in_reply_to_id IS NULL)"
_PATH, _GAP_ABOVE, _DESCENDANT = range(3)
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
(SELECT {_DESCENDANT}, id, in_reply_to_id, NULL FROM below
  WHERE NOT thread_path && ARRAY(SELECT id FROM below WHERE is_gap) AND id > %(after)s ORDER BY id LIMIT %(limit)s)
"""  # noqa: S608 (constants)


@dataclass(frozen=True)
class Context:
    """Posts of a thread around a post: `ancestors` root first, `descendants` in the order of the tree. Together they are the
    rows of the filled `page`. `more_after` is the id of the newest descendant that was read, if there may be newer descendants.
    """

    page: PostPage
    ancestors: list[Post]
    descendants: list[Post]
    more_after: int | None


def incomplete_from(post: Post, context: Context) -> int | None:
    """Return the id of the post from which missing parts of a thread can be fetched: the post if it is remote, else the nearest
    remote ancestor, else the post if it has a remote reply. None for a local thread.
    """
    above = [post.proper, *reversed(context.ancestors)]
    below = post.proper.id if any(not each.local for each in context.descendants) else None
    return next((each.id for each in above if not each.local), below)


def load_context(post: Post, viewer_id: int | None, *, after: int | None = None) -> Context:
    """Return the thread around a post for a viewer, in at most seven queries.

    Some posts are left out, but replies to these posts are shown: posts that the viewer may not read, and posts of accounts
    that the viewer blocks or mutes, or of limited accounts that the viewer does not follow. Replies are in the order of their
    ids, but the replies of the post's author come first. If there are too many descendants, the oldest are shown; with `after`,
    the oldest descendants with a greater id.
    """
    reach = ANONYMOUS_REACH if viewer_id is None else USER_REACH
    above, parents = _load_thread(post.id, reach, after or 0)
    page = select([*above[-reach.ancestors :], *parents], viewer_id, THREAD.shows)
    ancestors = [post for post in page.rows if post.id not in parents]
    below = [post for post in page.rows if post.id in parents]
    descendants = in_tree_order(below, parents, root_id=post.id, root_author_id=post.account_id)
    page.rows = ancestors + descendants
    more_after = max(parents) if len(parents) == reach.descendants else None
    return Context(page=fill(page), ancestors=ancestors, descendants=descendants, more_after=more_after)


_SELF_REPLIES: Final = f"""
SELECT post.id, reply.id
  FROM unnest(%(ids)s::bigint[]) post (id) CROSS JOIN LATERAL (
    SELECT s.id FROM statuses_status s JOIN statuses_status parent ON parent.id = s.in_reply_to_id
     WHERE s.in_reply_to_id = post.id AND s.account_id = parent.account_id AND s.deleted_at IS NULL
       AND s.visibility = ANY(%(visibilities)s) AND {FEDERATED_POST}
     ORDER BY s.id LIMIT %(limit)s) reply
 ORDER BY reply.id
"""  # noqa: S608 (constants)


def load_self_replies(status_ids: Iterable[int], limit: int) -> dict[int, list[int]]:
    """Return the author's first `limit` public or unlisted, federated replies to each post, oldest first. One query."""
    found: dict[int, list[int]] = {number: [] for number in status_ids}
    values: dict[str, Value] = {
        "ids": list(found),
        "limit": limit,
        "visibilities": [each.value for each in OPEN_VISIBILITIES],
    }
    for status_id, reply_id in rows_of(_SELF_REPLIES, values) if found else ():
        found[status_id].append(reply_id)
    return found


# The posts to which a post replies, directly or through other replies, are at the end of its path.
_SOLICITED: Final = """
SELECT asked.status_id, asked.reader_id
  FROM unnest(%(ids)s::bigint[], %(readers)s::bigint[]) asked (status_id, reader_id)
  JOIN statuses_status s ON s.id = asked.status_id AND s.in_reply_to_id IS NOT NULL
 WHERE EXISTS (
   SELECT 1 FROM statuses_status above JOIN statuses_mention m ON m.status_id = above.id AND NOT m.silent
    WHERE above.id = ANY(s.thread_path[GREATEST(1, cardinality(s.thread_path) - %(depth)s):])
      AND above.account_id = asked.reader_id AND m.account_id = s.account_id
      AND above.visibility = ANY(%(visibilities)s))
"""
_SOLICITED_DEPTH: Final = 100


def load_solicited(pairs: Collection[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the (post id, reader id) pairs in which the reader contacted the author first. In such a pair, the post replies,
    directly or through at most a hundred posts, to a post in which the reader privately mentioned the author. One query, or
    none if there are no pairs.
    """
    if not pairs:
        return set()
    ids, readers = map(list, zip(*pairs, strict=True))
    values: dict[str, Value] = {
        "ids": ids,
        "readers": readers,
        "depth": _SOLICITED_DEPTH,
        "visibilities": list(CONVERSATION_VISIBILITIES),
    }
    return {(status_id, reader_id) for status_id, reader_id in rows_of(_SOLICITED, values)}


def _load_thread(status_id: int, reach: Reach, after: int) -> tuple[list[int], dict[int, int]]:
    """Return the ids of the ancestors up to the nearest gap, root first; and the parent of each descendant, oldest first."""
    path: list[int] = [status_id]
    gaps: dict[int, int] = {}
    parents: dict[int, int] = {}
    for kind, number, other, found in rows_of(
        _THREAD, {"id": status_id, "depth": reach.depth, "limit": reach.descendants, "after": after}
    ):
        if kind == _PATH:
            path = found
        else:
            (gaps if kind == _GAP_ABOVE else parents)[number] = other
    for index in range(len(path) - 1, -1, -1):
        if path[index] in gaps:
            return path[index + gaps[path[index]] : -1], parents
    return path[:-1], parents


def in_tree_order(posts: list[Post], parents: Mapping[int, int], *, root_id: int, root_author_id: int) -> list[Post]:
    """Sort posts depth first: each post before its replies, an author's replies to themselves before replies by others.
    Replies to posts that `parents` names but `posts` lacks are placed under their nearest ancestor in `posts`.
    """
    authors = {post.id: post.account_id for post in posts} | {root_id: root_author_id}
    children: dict[int, list[Post]] = {}
    for post in posts:
        parent_id = parents.get(post.id, root_id)
        while parent_id not in authors:
            parent_id = parents.get(parent_id, root_id)
        children.setdefault(parent_id, []).append(post)
    ordered: list[Post] = []
    waiting = _last_first(children.get(root_id, []), root_author_id)
    while waiting:
        post = waiting.pop()
        ordered.append(post)
        waiting.extend(_last_first(children.get(post.id, []), post.account_id))
    return ordered


def _last_first(siblings: list[Post], parent_author_id: int) -> list[Post]:
    return sorted(siblings, key=lambda post: (post.account_id != parent_author_id, post.id), reverse=True)
