"""Adds direct posts to the conversations of their readers (contract, behaviours section 11)."""

import hashlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from django.db import connection, transaction

from accounts.events import AccountBlocked
from social.kernel.errors import require_found
from social.kernel.events import publish
from social.kernel.locks import lock_row
from statuses.events import StatusDeleted
from statuses.models import Mention, Status
from statuses.policies.visibility import is_conversational
from timelines.events import ConversationChanged
from timelines.models import Conversation

_Key = tuple[int, int, tuple[int, ...]]

# Rows are always locked in the same order, so that two writers cannot deadlock.
_CONVERSATIONS: Final = """
INSERT INTO timelines_conversation (account_id, thread_id, participants, key, last_status_id, unread)
SELECT account_id, thread_id, string_to_array(participants, ',')::bigint[], key, last_status_id, false
  FROM unnest(%(accounts)s::bigint[], %(threads)s::bigint[], %(participants)s::text[], %(keys)s::text[],
              %(posts)s::bigint[]) c (account_id, thread_id, participants, key, last_status_id)
 ORDER BY account_id, thread_id, key
    ON CONFLICT (account_id, thread_id, key) DO UPDATE SET unread = timelines_conversation.unread
RETURNING id, account_id, thread_id, key
"""
# A post that is already in a conversation does not change it.
_POSTS: Final = """
WITH sent AS (
  SELECT * FROM unnest(%(ids)s::bigint[], %(posts)s::bigint[], %(own)s::bool[]) s (conversation_id, status_id, own)),
added AS (
  INSERT INTO timelines_conversationpost (conversation_id, status_id)
  SELECT conversation_id, status_id FROM sent ORDER BY 1, 2 ON CONFLICT DO NOTHING RETURNING conversation_id, status_id),
newest AS (
  SELECT DISTINCT ON (conversation_id) conversation_id, status_id, own FROM added NATURAL JOIN sent
   ORDER BY conversation_id, status_id DESC)
UPDATE timelines_conversation c
   SET unread = CASE WHEN NOT n.own THEN true WHEN n.status_id >= c.last_status_id THEN false ELSE c.unread END,
       last_status_id = GREATEST(n.status_id, c.last_status_id)
  FROM newest n WHERE c.id = n.conversation_id
RETURNING c.id, c.account_id
"""
# Conversations are locked before deleted posts or blocked accounts are removed from them: a transaction that adds a post at the
# same time either waits for the removal, or has ended before the removal reads the posts.
_LOCK_OF_POSTS: Final = """
SELECT id FROM timelines_conversation
 WHERE id IN (SELECT conversation_id FROM timelines_conversationpost WHERE status_id = ANY(%(posts)s))
 ORDER BY account_id, thread_id, key FOR UPDATE
"""
_LOCK_OF_PAIRS: Final = """
SELECT c.id FROM unnest(%(accounts)s::bigint[], %(targets)s::bigint[]) b (account_id, target_id)
  JOIN timelines_conversation c ON c.account_id = b.account_id AND b.target_id = ANY(c.participants)
 ORDER BY c.account_id, c.thread_id, c.key FOR UPDATE OF c
"""
_POST_REMOVAL: Final = """
WITH gone AS (
  DELETE FROM timelines_conversationpost WHERE status_id = ANY(%(posts)s) RETURNING conversation_id, status_id),
left_over AS (
  SELECT g.conversation_id,
         (SELECT max(p.status_id) FROM timelines_conversationpost p
           WHERE p.conversation_id = g.conversation_id AND p.status_id <> ALL(%(posts)s)) AS status_id
    FROM (SELECT DISTINCT conversation_id FROM gone) g),
emptied AS (
  DELETE FROM timelines_conversation c USING left_over l WHERE c.id = l.conversation_id AND l.status_id IS NULL)
UPDATE timelines_conversation c SET last_status_id = l.status_id
  FROM left_over l WHERE c.id = l.conversation_id AND l.status_id IS NOT NULL
"""

# The rows of a conversation's posts are deleted by the same statement, because the database does not cascade to them.
_CONVERSATION_REMOVAL: Final = """
WITH ended AS (
  SELECT c.id FROM unnest(%(accounts)s::bigint[], %(targets)s::bigint[]) b (account_id, target_id)
    JOIN timelines_conversation c ON c.account_id = b.account_id AND b.target_id = ANY(c.participants)),
emptied AS (DELETE FROM timelines_conversationpost WHERE conversation_id IN (SELECT id FROM ended))
DELETE FROM timelines_conversation WHERE id IN (SELECT id FROM ended)
"""


def add_posts(readers: Collection[tuple[int, int]]) -> None:
    """Add direct posts to conversations: `readers` are pairs of a local account (author or mentioned) and a post's id. A post
    by another account makes the conversation unread; the owner's own post makes it read if it is the newest. Posts that are not
    direct, and posts that were added before, are ignored. Runs four statements, in the caller's transaction if there is one.
    Publishes ConversationChanged.
    """
    statuses = (
        Status.objects.filter(id__one_of={status for _account, status in readers}, deleted_at=None) if readers else ()
    )
    posts = {status.id: status for status in statuses if is_conversational(status.visibility)}
    pairs = sorted({(account, status) for account, status in readers if status in posts})
    if not pairs:
        return
    mentioned: dict[int, set[int]] = {number: set() for number in posts}
    for status_id, account_id in Mention.objects.filter(status_id__one_of=posts, silent=False).values_list(
        "status_id", "account_id"
    ):
        mentioned[status_id].add(account_id)
    keys: dict[tuple[int, int], _Key] = {}
    for account_id, status_id in pairs:
        row = posts[status_id]
        others = tuple(sorted((mentioned[status_id] | {row.account_id}) - {account_id}))
        keys[account_id, status_id] = (account_id, row.thread_root_id, others)
    with transaction.atomic():
        ids = _ensure(keys)
        changed_pairs = _add_to_conversations(
            [(ids[keys[pair]], pair[1], posts[pair[1]].account_id == pair[0]) for pair in pairs if keys[pair] in ids]
        )
        publish(*(ConversationChanged(conversation_id=number, account_id=account) for number, account in changed_pairs))


def _ensure(keys: dict[tuple[int, int], _Key]) -> dict[_Key, int]:
    # Creates missing conversations.
    newest: dict[_Key, int] = {}
    for (_account, status_id), key in keys.items():
        newest[key] = max(status_id, newest.get(key, 0))
    newest_keys = list(newest)
    digests = {(key[0], key[1], digest(key[2])): key for key in newest_keys}
    values: dict[str, Any] = {
        "accounts": [key[0] for key in newest_keys],
        "threads": [key[1] for key in newest_keys],
        "participants": [",".join(map(str, key[2])) for key in newest_keys],
        "keys": [digest(key[2]) for key in newest_keys],
        "posts": [newest[key] for key in newest_keys],
    }
    with connection.cursor() as cursor:
        cursor.execute(_CONVERSATIONS, values)
        return {digests[account, thread, key]: number for number, account, thread, key in cursor.fetchall()}


def _add_to_conversations(posts: Sequence[tuple[int, int, bool]]) -> list[tuple[int, int]]:
    # Posts are (conversation id, post id, whether the conversation's owner wrote the post). Returns the ids and owners of the
    # conversations that changed.
    values: dict[str, Any] = {
        "ids": [number for number, _post, _own in posts],
        "posts": [post for _number, post, _own in posts],
        "own": [own for _number, _post, own in posts],
    }
    with connection.cursor() as cursor:
        cursor.execute(_POSTS, values)
        return sorted(cursor.fetchall())


def digest(participants: Iterable[int]) -> str:
    """Return a short digest of these participants, because an array of any length may be too long for an index."""
    return hashlib.blake2b(",".join(map(str, participants)).encode(), digest_size=16).hexdigest()


def withdraw_from_conversations(events: Sequence[StatusDeleted]) -> None:
    """Remove deleted posts from conversations, which then show their newest remaining post, or are deleted if there is none."""
    posts = {"posts": [event.status_id for event in events]}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK_OF_POSTS, posts)
        cursor.execute(_POST_REMOVAL, posts)


def leave_conversations(events: Sequence[AccountBlocked]) -> None:
    """Delete the blocking account's conversations with the blocked account; the blocked account keeps its own copies."""
    pairs = {"accounts": [event.account_id for event in events], "targets": [event.target_id for event in events]}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_LOCK_OF_PAIRS, pairs)
        cursor.execute(_CONVERSATION_REMOVAL, pairs)


def find_conversation(*, account_id: int, conversation_id: int) -> Conversation:
    """Return one of the account's own conversations. Raises NotFound."""
    return require_found(Conversation.objects.filter(id=conversation_id, account_id=account_id).first())


def mark_conversation(*, account_id: int, conversation_id: int, unread: bool) -> Conversation:
    """Mark the account's own conversation as read or unread. Raises NotFound."""
    found = find_conversation(account_id=account_id, conversation_id=conversation_id)
    Conversation.objects.filter(id=found.id).update(unread=unread)
    found.unread = unread
    return found


def remove_conversation(*, account_id: int, conversation_id: int) -> None:
    """Delete the account's own conversation; the next post in it creates it again. Raises NotFound."""
    with transaction.atomic():
        lock_row(find_conversation(account_id=account_id, conversation_id=conversation_id)).delete()
