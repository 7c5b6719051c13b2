"""Reads the public, hashtag and link timelines, for a viewer or for anybody: one query each, ids only.

Source: contract, behaviours section 11; the rule for a row in memory is in `policies.public`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from accounts.policies.relations import (
    BLOCKED_BY_VIEWER,
    BLOCKERS_OF_VIEWER,
    DOMAINS_BLOCKED_BY_VIEWER,
    MUTED_BY_VIEWER,
)
from social.kernel.cursors import Cursor
from social.kernel.statements import fetch
from statuses.policies.visibility import PUBLIC_POST

_UNWANTED: Final = f"""
WITH unwanted (id) AS MATERIALIZED ({BLOCKED_BY_VIEWER} UNION ALL {BLOCKERS_OF_VIEWER} UNION ALL {MUTED_BY_VIEWER}),
unwanted_domains (domain) AS MATERIALIZED ({DOMAINS_BLOCKED_BY_VIEWER}),
chosen AS MATERIALIZED (
  SELECT jsonb_array_elements_text(preferences->'chosen_languages') AS language FROM accounts_user
   WHERE account_id = %(viewer)s AND jsonb_typeof(preferences->'chosen_languages') = 'array'
)
"""  # noqa: S608 (constants)

# The author is asked for in a subquery of one value, not joined: a join invites plans that sort every post there is to
# find the newest twenty.
_SHOWN_AUTHOR: Final = """
  AND (SELECT a.suspended_at IS NULL AND a.limited_at IS NULL FROM accounts_account a WHERE a.id = s.account_id)
"""
_WANTED_AUTHOR: Final = """
  AND s.account_id NOT IN (SELECT id FROM unwanted)
  AND (SELECT a.suspended_at IS NULL AND a.limited_at IS NULL
              AND (a.domain IS NULL OR a.domain NOT IN (SELECT domain FROM unwanted_domains))
         FROM accounts_account a WHERE a.id = s.account_id)
"""
_DISCOVERABLE_AUTHOR: Final = """
  AND (SELECT a.discoverable FROM accounts_account a WHERE a.id = s.account_id)
"""
# Without a choice all posts by their id. Else those of each chosen language, and those that name none, here and elsewhere by an
# index that begins with both, so that a rare language costs no more than a common one.
_IN_CHOSEN_LANGUAGES: Final = """
SELECT post.id FROM (
  (SELECT s.id FROM statuses_status s WHERE NOT EXISTS (SELECT 1 FROM chosen) AND {condition} {ordered})
  UNION ALL
  (SELECT post.id
     FROM (SELECT language FROM chosen UNION SELECT '' WHERE EXISTS (SELECT 1 FROM chosen)) shown
    CROSS JOIN (VALUES {origins}) origin (local)
    CROSS JOIN LATERAL (
      SELECT s.id FROM statuses_status s
       WHERE {condition} AND s.local = origin.local AND s.language = shown.language {backwards}) post)
  UNION ALL
  (SELECT post.id
     FROM (VALUES {origins}) origin (local)
    CROSS JOIN LATERAL (
      SELECT s.id FROM statuses_status s
       WHERE {condition} AND s.local = origin.local AND s.language IS NULL {backwards}) post
    WHERE EXISTS (SELECT 1 FROM chosen))) post
 ORDER BY post.id {direction} LIMIT %(limit)s
"""
_PUBLIC_FACTS: Final = """
SELECT s.id, EXISTS (SELECT 1 FROM statuses_mediaattachment m WHERE m.status_id = s.id),
       ARRAY(SELECT g.name FROM statuses_statustag t JOIN accounts_tag g ON g.id = t.tag_id
              WHERE t.status_id = s.id ORDER BY t.id)
  FROM statuses_status s WHERE s.id = ANY(%(ids)s)
"""
_WITH_MEDIA: Final = " AND EXISTS (SELECT 1 FROM statuses_mediaattachment m WHERE m.status_id = s.id)"
_NO_REPLY: Final = """
  AND (s.in_reply_to_account_id = s.account_id
       OR (s.in_reply_to_id IS NULL AND s.in_reply_to_uri IS NULL AND s.in_reply_to_account_id IS NULL))
"""
_ALL_TAGS: Final = """
  AND NOT EXISTS (SELECT 1 FROM accounts_tag g WHERE g.name = ANY(%(all)s) AND NOT g.private AND NOT EXISTS (
                    SELECT 1 FROM statuses_statustag x WHERE x.status_id = s.id AND x.tag_id = g.id))
"""
_NO_TAGS: Final = """
  AND NOT EXISTS (SELECT 1 FROM statuses_statustag x JOIN accounts_tag g ON g.id = x.tag_id
                   WHERE x.status_id = s.id AND g.name = ANY(%(none)s))
"""


@dataclass(frozen=True, slots=True)
class PublicFilter:
    """Which public posts: of this server (True), of others (False), of all (None); with files only."""

    local: bool | None = None
    only_media: bool = False


@dataclass(frozen=True, slots=True)
class TagFilter:
    """Posts with the hashtag `name` or one of `any`, with all of `all` and none of `none`: normalised names."""

    name: str
    any: Sequence[str] = ()
    all: Sequence[str] = ()
    none: Sequence[str] = ()


def list_public_ids(viewer_id: int | None, cursor: Cursor, wanted: PublicFilter) -> list[int]:
    """Posts of the public timeline, newest first."""
    condition = _condition(viewer_id, wanted) + _NO_REPLY
    ordered = cursor.ordered("s.id")
    if viewer_id is None:
        sql = f"SELECT s.id FROM statuses_status s WHERE {condition} {ordered}"  # noqa: S608 (constants)
    else:
        before = "" if cursor.before is None else " AND s.id * -1 > -(%(before)s::bigint)"
        after = "" if cursor.after is None else " AND s.id * -1 < -(%(after)s::bigint)"
        sql = _UNWANTED + _IN_CHOSEN_LANGUAGES.format(
            condition=condition,
            ordered=ordered,
            backwards=f"{before}{after} ORDER BY s.id * -1 {'DESC' if cursor.ascending else 'ASC'} LIMIT %(limit)s",
            origins="(TRUE), (FALSE)" if wanted.local is None else f"({wanted.local})",
            direction=cursor.direction,
        )
    return _ids(sql, _values(viewer_id, cursor), cursor)


def list_tagged_ids(viewer_id: int | None, cursor: Cursor, wanted: PublicFilter, tags: TagFilter) -> list[int]:
    """Posts of a hashtag's timeline, newest first; nothing for a hashtag that nobody has used.

    Of the hashtags that posts must or must not have those that nobody has used are ignored (contract, parameters). One
    that is only used where not everybody can read it is like one that nobody has used.

    By the index (tag, status) of each wanted hashtag, so that a rare one costs no more than a common one.
    """
    condition = _condition(viewer_id, wanted) + (_ALL_TAGS if tags.all else "") + (_NO_TAGS if tags.none else "")
    direction = cursor.direction
    sql = f"""{"" if viewer_id is None else _UNWANTED}
      SELECT DISTINCT post.status_id
        FROM accounts_tag tag
       CROSS JOIN LATERAL (
         SELECT t.status_id FROM statuses_statustag t
          WHERE t.tag_id = tag.id AND (SELECT {condition} FROM statuses_status s WHERE s.id = t.status_id)
                {cursor.between("t.status_id")}
          ORDER BY t.status_id {direction} LIMIT %(limit)s) post
       WHERE tag.name = ANY(%(any)s) AND EXISTS (SELECT 1 FROM accounts_tag WHERE name = %(name)s AND NOT private)
       ORDER BY post.status_id {direction} LIMIT %(limit)s"""  # noqa: S608 (constants)
    parameters = _values(viewer_id, cursor) | {
        "name": tags.name,
        "any": [tags.name, *tags.any],
        "all": list(tags.all),
        "none": list(tags.none),
    }
    return _ids(sql, parameters, cursor)


def list_linking_ids(viewer_id: int | None, cursor: Cursor, wanted: PublicFilter, card_id: int) -> list[int]:
    """Public posts that show a link, of authors who want to be found, newest first; by the index (card, status)."""
    condition = _condition(viewer_id, wanted) + _DISCOVERABLE_AUTHOR
    sql = f"""{"" if viewer_id is None else _UNWANTED}
      SELECT k.status_id FROM statuses_statuscard k
       WHERE k.card_id = %(card)s AND (SELECT {condition} FROM statuses_status s WHERE s.id = k.status_id)
             {cursor.ordered("k.status_id")}"""  # noqa: S608 (constants)
    return _ids(sql, _values(viewer_id, cursor) | {"card": card_id}, cursor)


# What is not asked for is left out of the SQL, not answered by a parameter: PostgreSQL keeps one plan for a statement,
# and one that is good for every value is good for none.


def _condition(viewer_id: int | None, wanted: PublicFilter) -> str:
    condition = PUBLIC_POST
    if wanted.local is not None:
        condition += " AND s.local" if wanted.local else " AND NOT s.local"
    condition += _SHOWN_AUTHOR if viewer_id is None else _WANTED_AUTHOR
    return condition + _WITH_MEDIA if wanted.only_media else condition


def _values(viewer_id: int | None, cursor: Cursor) -> dict[str, Any]:
    return {"viewer": viewer_id, **cursor.parameters}


def _ids(sql: str, parameters: dict[str, Any], cursor: Cursor) -> list[int]:
    return cursor.newest_first([row[0] for row in fetch(sql, parameters)])


def load_public_facts(status_ids: Sequence[int]) -> dict[int, tuple[bool, list[str]]]:
    """By post: whether it has files, and the names of its hashtags. One query."""
    if not status_ids:
        return {}
    return {
        status_id: (has_media, tags) for status_id, has_media, tags in fetch(_PUBLIC_FACTS, {"ids": list(status_ids)})
    }
