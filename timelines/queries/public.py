"""Reads the public, hashtag and link timelines (one query each, ids only), and the settings of access to them."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accounts.models import SiteSetting, User
from accounts.models.user import Permission
from accounts.policies.audience import VIEWER_SETS
from accounts.queries.site_settings import ACCESS_SETTING
from social.kernel.cursors import Cursor
from social.kernel.statements import rows_of
from statuses.policies.audience import HASHTAG_TIMELINE, PUBLIC_TIMELINE, Audience
from timelines.policies.access import HASHTAG, LIVE, FeedAccess

_ACCESS_SECONDS: Final = 2.0
_kept_access: tuple[float, Mapping[str, Any]] = (float("-inf"), {})


def load_access(kind: str) -> FeedAccess:
    """Return the access setting of a kind of feed. Cached for two seconds, because every page of a public timeline needs it."""
    global _kept_access
    read_at, setting = _kept_access
    if time.monotonic() - read_at > _ACCESS_SECONDS:
        value = SiteSetting.objects.filter(key=ACCESS_SETTING).values_list("value", flat=True).first()
        setting = value if isinstance(value, dict) else {}
        _kept_access = (time.monotonic(), setting)
    return FeedAccess.of(setting, kind)


def load_accesses() -> tuple[FeedAccess, ...]:
    """Return the access settings of live and hashtag feeds. Equal results mean unchanged settings."""
    return tuple(load_access(kind) for kind in (LIVE, HASHTAG))


def forget_access() -> None:
    """Clear the cached access setting; used by tests, and after a change of the setting."""
    global _kept_access
    _kept_access = (float("-inf"), {})


def load_origins(kind: str, viewer_id: int | None, *, local: bool, remote: bool) -> tuple[bool, bool] | None:
    """Return which of the requested origins the viewer may see, as (local, remote); None for an anonymous viewer if a user is
    required. Takes one more query when a feed is disabled, because the viewer's role may allow it (`view_feeds`).
    """
    access = load_access(kind)
    if viewer_id is None and access.wants_user(local=local, remote=remote):
        return None
    origins = access.opened(local=local, remote=remote, may_view_all=False)
    if origins != (local, remote) and viewer_id is not None:
        user = User.objects.select_related("role").filter(account_id=viewer_id).first()
        may_view_all = user is not None and user.role.can(Permission.VIEW_FEEDS)
        origins = access.opened(local=local, remote=remote, may_view_all=may_view_all)
    return origins


_LANGUAGE_SETS: Final = f"""
WITH {VIEWER_SETS},
chosen AS MATERIALIZED (
  SELECT jsonb_array_elements_text(preferences->'chosen_languages') AS language FROM accounts_user
   WHERE account_id = %(viewer)s AND jsonb_typeof(preferences->'chosen_languages') = 'array'
)
"""  # noqa: S608 (constants)

_DISCOVERABLE_AUTHOR: Final = """
  AND (SELECT a.discoverable FROM accounts_account a WHERE a.id = s.account_id)
"""
# Without chosen languages, all posts are read by id. Otherwise the posts in each chosen language, and the posts without a
# language, are read separately for local and remote posts. An index begins with both columns; therefore a rare language costs
# no more than a common one.
_CHOSEN_LANGUAGE_POSTS: Final = """
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
  FROM statuses_status s WHERE s.id = ANY((SELECT %(ids)s)::bigint[])
"""
_MEDIA_CONDITION: Final = " AND EXISTS (SELECT 1 FROM statuses_mediaattachment m WHERE m.status_id = s.id)"
# Conditions on a row `t` of a hashtag are evaluated before the conditions on its post, through the indexes that begin with the
# post. They use count instead of EXISTS, for which the planner may read all rows of the other hashtags.
_TAGS_OF_ROW: Final = """(
  SELECT count(*) FROM statuses_statustag x JOIN accounts_tag g ON g.id = x.tag_id
   WHERE x.status_id = t.status_id AND g.name = ANY({names}) {more})"""
_UNKNOWN_TAG: Final = "(g.private OR (g.local_only AND %(visitor)s = 1))"
_ALL_TAGS_CONDITION: Final = f"""
  AND {_TAGS_OF_ROW.format(names="%(all)s", more=f"AND NOT {_UNKNOWN_TAG}")} = (
    SELECT count(*) FROM accounts_tag g WHERE g.name = ANY(%(all)s) AND NOT {_UNKNOWN_TAG})
  AND {_TAGS_OF_ROW.format(names="%(any)s", more="")} > 0
"""  # noqa: S608 (constants)
_NO_TAGS_CONDITION: Final = f" AND {_TAGS_OF_ROW.format(names='%(none)s', more='')} = 0"
_TAGGED_MEDIA_CONDITION: Final = """
  AND (SELECT count(*) FROM statuses_mediaattachment m WHERE m.status_id = t.status_id) > 0
"""
# If posts must have several hashtags, the posts of the rarest hashtag are read. To find it, up to 1,000 posts per hashtag are
# counted.
_WANTED_TAGS: Final = "SELECT g.id FROM accounts_tag g WHERE g.name = ANY(%(any)s) AND g.name <> ALL(%(none)s)"
_RAREST_TAG: Final = f"""
SELECT g.id FROM accounts_tag g
 CROSS JOIN LATERAL (SELECT count(*) AS uses FROM (
   SELECT 1 FROM statuses_statustag t WHERE t.tag_id = g.id LIMIT 1000) few) counted
 WHERE ((g.name = ANY(%(all)s) AND NOT {_UNKNOWN_TAG}) OR (g.name = %(name)s AND cardinality(%(any)s::text[]) = 1))
   AND EXISTS ({_WANTED_TAGS})
 ORDER BY counted.uses, g.id LIMIT 1
"""  # noqa: S608 (constants)
POSTS_LOOKED_AT: Final = 5_000
"""Limit on the posts of a hashtag that are read for a page, however few of them match."""


@dataclass(frozen=True, slots=True)
class PublicFilter:
    """Filter of public posts. `local`: only local (True) or remote (False) posts, None for both; `only_media`: only posts with
    files; `discoverable`: only posts of discoverable accounts.
    """

    local: bool | None = None
    only_media: bool = False
    discoverable: bool = False


@dataclass(frozen=True, slots=True)
class TagFilter:
    """Filter of posts that have the hashtag `name` or one of `any`, all of `all`, and none of `none`, all normalised."""

    name: str
    any: Sequence[str] = ()
    all: Sequence[str] = ()
    none: Sequence[str] = ()


def list_public_ids(viewer_id: int | None, cursor: Cursor, public_filter: PublicFilter) -> list[int]:
    """Return posts of the public timeline, newest first."""
    condition = _condition(PUBLIC_TIMELINE, viewer_id, public_filter)
    ordered = cursor.ordered("s.id")
    if viewer_id is None:
        sql = f"SELECT s.id FROM statuses_status s WHERE {condition} {ordered}"  # noqa: S608 (constants)
    else:
        before = "" if cursor.before is None else " AND s.id * -1 > -(%(before)s::bigint)"
        after = "" if cursor.after is None else " AND s.id * -1 < -(%(after)s::bigint)"
        sql = _LANGUAGE_SETS + _CHOSEN_LANGUAGE_POSTS.format(
            condition=condition,
            ordered=ordered,
            backwards=f"{before}{after} ORDER BY s.id * -1 {'DESC' if cursor.ascending else 'ASC'} LIMIT %(limit)s",
            origins="(TRUE), (FALSE)" if public_filter.local is None else f"({public_filter.local})",
            direction=cursor.direction,
        )
    return _ids(sql, _values(viewer_id, cursor), cursor)


def list_tagged_ids(viewer_id: int | None, cursor: Cursor, public_filter: PublicFilter, tags: TagFilter) -> list[int]:
    """Return posts of a hashtag's timeline, newest first; none if the hashtag is unused, or has no public or unlisted post.
    Unused hashtags in `all` and `none` are ignored (contract, parameters).

    The query uses the index (tag, status) for each wanted hashtag, or for the rarest hashtag that all posts must have. It reads
    at most POSTS_LOOKED_AT posts of each hashtag, from the cursor on.
    """
    condition = _condition(HASHTAG_TIMELINE, viewer_id, public_filter)
    on_tags = (
        (_ALL_TAGS_CONDITION if tags.all else "")
        + (_NO_TAGS_CONDITION if tags.none else "")
        + (_TAGGED_MEDIA_CONDITION if public_filter.only_media else "")
    )
    direction = cursor.direction
    sql = f"""{"" if viewer_id is None else _LANGUAGE_SETS}
      SELECT DISTINCT post.status_id
        FROM ({_RAREST_TAG if tags.all else _WANTED_TAGS}) tag
       CROSS JOIN LATERAL (
         SELECT t.status_id FROM (
           SELECT t.status_id FROM statuses_statustag t WHERE t.tag_id = tag.id {cursor.between("t.status_id")}
            ORDER BY t.status_id {direction} LIMIT {POSTS_LOOKED_AT}) t
          WHERE TRUE {on_tags} AND (SELECT {condition} FROM statuses_status s WHERE s.id = t.status_id)
          ORDER BY t.status_id {direction} LIMIT %(limit)s) post
       WHERE EXISTS (SELECT 1 FROM accounts_tag g WHERE g.name = %(name)s AND NOT {_UNKNOWN_TAG})
       ORDER BY post.status_id {direction} LIMIT %(limit)s"""  # noqa: S608 (constants)
    parameters = _values(viewer_id, cursor) | {
        "name": tags.name,
        "visitor": int(viewer_id is None),
        "any": [tags.name, *tags.any],
        "all": list(tags.all),
        "none": list(tags.none),
    }
    return _ids(sql, parameters, cursor)


def list_linking_ids(viewer_id: int | None, cursor: Cursor, public_filter: PublicFilter, card_id: int) -> list[int]:
    """Return public posts that show a link, by discoverable authors, newest first. The query uses the index (card, status)."""
    condition = _condition(HASHTAG_TIMELINE, viewer_id, public_filter) + _DISCOVERABLE_AUTHOR
    sql = f"""{"" if viewer_id is None else _LANGUAGE_SETS}
      SELECT k.status_id FROM statuses_statuscard k
       WHERE k.card_id = %(card)s AND (SELECT {condition} FROM statuses_status s WHERE s.id = k.status_id)
             {cursor.ordered("k.status_id")}"""  # noqa: S608 (constants)
    return _ids(sql, _values(viewer_id, cursor) | {"card": card_id}, cursor)


# Conditions that are not requested are left out of the SQL instead of being switched off by a parameter, because PostgreSQL has
# one plan for a statement, and a plan that suits all values is slow for each.


def _condition(audience: Audience, viewer_id: int | None, public_filter: PublicFilter) -> str:
    condition = audience.sql(has_viewer=viewer_id is not None)
    if public_filter.local is not None:
        condition += " AND s.local" if public_filter.local else " AND NOT s.local"
    if public_filter.discoverable:
        condition += _DISCOVERABLE_AUTHOR
    return condition + _MEDIA_CONDITION if public_filter.only_media else condition


def _values(viewer_id: int | None, cursor: Cursor) -> dict[str, Any]:
    return {"viewer": viewer_id, **cursor.parameters}


def _ids(sql: str, parameters: dict[str, Any], cursor: Cursor) -> list[int]:
    return cursor.newest_first([row[0] for row in rows_of(sql, parameters)])


def load_public_facts(status_ids: Sequence[int]) -> dict[int, tuple[bool, list[str]]]:
    """Return, for each post, whether it has files, and the names of its hashtags. Takes one query."""
    if not status_ids:
        return {}
    return {
        status_id: (has_media, tags) for status_id, has_media, tags in rows_of(_PUBLIC_FACTS, {"ids": list(status_ids)})
    }
