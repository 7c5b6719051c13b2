"""Reads the public and hashtag timelines, for a viewer or for anybody: one query each, ids only.

Source: contract, behaviours section 11; the rule for a row in hand is in `policies.public`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from timelines.queries.home import Window

_NEWEST: Final = 2**63 - 1

# Whom the viewer blocks or mutes, and who blocks the viewer; empty for nobody.
_UNWANTED: Final = """
  unwanted AS MATERIALIZED (
    SELECT target_id AS id FROM accounts_block WHERE account_id = %(viewer)s
    UNION SELECT account_id FROM accounts_block WHERE target_id = %(viewer)s
    UNION SELECT target_id FROM accounts_mute
           WHERE account_id = %(viewer)s AND (expires_at IS NULL OR expires_at > now())
  )
"""

# The literals must stand here, not in parameters: they choose the partial index.
_CONDITION: Final = """
  s.visibility = 'public' AND s.reblog_of_id IS NULL AND s.deleted_at IS NULL
  AND (%(local)s::boolean IS NULL OR s.local = %(local)s)
  AND a.suspended_at IS NULL AND a.limited_at IS NULL
  AND s.account_id NOT IN (SELECT id FROM unwanted)
  AND (NOT %(only_media)s OR EXISTS (SELECT 1 FROM statuses_mediaattachment m WHERE m.status_id = s.id))
"""

_PUBLIC: Final = f"""
WITH {_UNWANTED}, chosen AS MATERIALIZED (
  SELECT jsonb_array_elements_text(preferences->'chosen_languages') AS language FROM accounts_user
   WHERE account_id = %(viewer)s AND jsonb_typeof(preferences->'chosen_languages') = 'array'
)
SELECT s.id FROM statuses_status s JOIN accounts_account a ON a.id = s.account_id
 WHERE {_CONDITION}
   AND (s.in_reply_to_account_id = s.account_id
        OR (s.in_reply_to_id IS NULL AND s.in_reply_to_uri IS NULL AND s.in_reply_to_account_id IS NULL))
   AND (s.language IS NULL OR NOT EXISTS (SELECT 1 FROM chosen) OR s.language IN (SELECT language FROM chosen))
   AND s.id < %(before)s AND s.id > %(after)s
 ORDER BY s.id {{direction}} LIMIT %(count)s
"""  # noqa: S608

# By the index (tag, status) of each wanted hashtag, so that a rare one costs no more than a common one.
_TAGGED: Final = f"""
WITH {_UNWANTED}
SELECT found.id FROM (
  SELECT DISTINCT post.id
    FROM accounts_tag tag
   CROSS JOIN LATERAL (
     SELECT s.id
       FROM statuses_statustag t
       JOIN statuses_status s ON s.id = t.status_id
       JOIN accounts_account a ON a.id = s.account_id
      WHERE t.tag_id = tag.id AND t.status_id < %(before)s AND t.status_id > %(after)s AND {_CONDITION}
        AND (SELECT count(*) FROM statuses_statustag x JOIN accounts_tag g ON g.id = x.tag_id
              WHERE x.status_id = s.id AND g.name = ANY(%(all)s)) = %(all_count)s
        AND NOT EXISTS (SELECT 1 FROM statuses_statustag x JOIN accounts_tag g ON g.id = x.tag_id
                         WHERE x.status_id = s.id AND g.name = ANY(%(none)s))
      ORDER BY t.status_id {{direction}} LIMIT %(count)s) post
   WHERE tag.name = ANY(%(any)s) AND EXISTS (SELECT 1 FROM accounts_tag WHERE name = %(name)s)
) found
 ORDER BY found.id {{direction}} LIMIT %(count)s
"""  # noqa: S608


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


def list_public_ids(viewer_id: int | None, window: Window, wanted: PublicFilter) -> list[int]:
    """Posts of the public timeline, newest first."""
    return _ids(_PUBLIC, _bounds(viewer_id, window, wanted), window)


def list_tagged_ids(viewer_id: int | None, window: Window, wanted: PublicFilter, tags: TagFilter) -> list[int]:
    """Posts of a hashtag's timeline, newest first; nothing for a hashtag that nobody has used."""
    everything = sorted(set(tags.all))
    parameters = _bounds(viewer_id, window, wanted) | {
        "name": tags.name,
        "any": [tags.name, *tags.any],
        "all": everything,
        "all_count": len(everything),
        "none": list(tags.none),
    }
    return _ids(_TAGGED, parameters, window)


def _bounds(viewer_id: int | None, window: Window, wanted: PublicFilter) -> dict[str, Any]:
    return {
        "viewer": viewer_id,
        "before": _NEWEST if window.before is None else window.before,
        "after": 0 if window.after is None else window.after,
        "count": window.count,
        "local": wanted.local,
        "only_media": wanted.only_media,
    }


def _ids(sql: str, parameters: dict[str, Any], window: Window) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql.format(direction="ASC" if window.ascending else "DESC"), parameters)
        ids = [row[0] for row in cursor.fetchall()]
    return ids[::-1] if window.ascending else ids


def load_public_facts(status_ids: Sequence[int]) -> dict[int, tuple[bool, list[str]]]:
    """By post: whether it has files, and the names of its hashtags. One query."""
    if not status_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id, EXISTS (SELECT 1 FROM statuses_mediaattachment m WHERE m.status_id = s.id),"
            " ARRAY(SELECT g.name FROM statuses_statustag t JOIN accounts_tag g ON g.id = t.tag_id"
            "        WHERE t.status_id = s.id ORDER BY t.id)"
            " FROM statuses_status s WHERE s.id = ANY(%s)",
            [list(status_ids)],
        )
        return {status_id: (has_media, tags) for status_id, has_media, tags in cursor.fetchall()}
