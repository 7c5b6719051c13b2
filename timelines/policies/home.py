"""Which posts are in somebody's home timeline. One rule written twice, side by side: for a row in memory, and
in SQL.

Source: contract, behaviours section 11, the table "Home". A property test holds the two together. Fan-out asks the
first before it writes to a feed, whoever reads a feed asks it again, and what a feed does not hold is found by the
second.
"""

from __future__ import annotations

from collections.abc import Collection, Container
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from accounts.policies.relations import (
    BLOCKED_BY_VIEWER,
    BLOCKERS_OF_VIEWER,
    DOMAINS_BLOCKED_BY_VIEWER,
    MUTED_BY_VIEWER,
    FollowOptions,
    Relations,
)
from statuses.policies.visibility import (
    ADDRESSED_POST,
    FOLLOWED,
    PUBLIC_POST,
    Listable,
    can_see,
    is_for_addressed,
    is_listed,
    readable_sql,
)


class HomePost(Listable, Protocol):
    """What the rule looks at: a `statuses.queries.rows.Row`."""

    @property
    def id(self) -> int:
        """The post's id."""
        ...

    @property
    def language(self) -> str | None:
        """The language of the post."""
        ...

    @property
    def created_at(self) -> datetime:
        """When it was written."""
        ...

    @property
    def in_reply_to_id(self) -> int | None:
        """The post it answers, if that is known here and not deleted."""
        ...

    @property
    def in_reply_to_account_id(self) -> int | None:
        """Whom it answers."""
        ...

    @property
    def is_orphan(self) -> bool:
        """Whether it answers, or once answered, a post that was not known here."""
        ...

    @property
    def addressed_ids(self) -> Collection[int]:
        """The accounts it mentions, silently or not."""
        ...

    @property
    def original(self) -> HomePost | None:
        """The boosted post."""
        ...


class Verdict(StrEnum):
    """Why a post stands in a home timeline, or does not."""

    DELIVER = "deliver"
    UNREADABLE = "the viewer may not read it"
    NOT_FOLLOWED = "the author is not followed"
    BROKEN_REPLY = "it answers a post that is unknown here"
    DIRECT_BEFORE = "it was for few people, and the viewer has muted the author since"
    LANGUAGE = "the viewer follows the author in other languages"
    HIDDEN = "the viewer blocks or mutes the author, the boosted author or somebody mentioned"
    BLOCKED_BY = "the author, or the boosted author, blocks the viewer"
    REPLY_TO_STRANGER = "it answers somebody the viewer does not follow"
    REBLOGS_HIDDEN = "the viewer does not want to see the author's boosts"
    EXCLUSIVE = "the viewer reads the author in lists alone"

    @property
    def delivered(self) -> bool:
        """Whether the post is shown."""
        return self is Verdict.DELIVER


def involved_ids(post: HomePost) -> set[int]:
    """The accounts that the viewer's relations must know for `home_verdict`."""
    ids = {post.account_id, *post.addressed_ids}
    if post.in_reply_to_account_id is not None:
        ids.add(post.in_reply_to_account_id)
    if post.original is not None:
        ids.update((post.original.account_id, *post.original.addressed_ids))
    return ids


def home_verdict(
    post: HomePost, relations: Relations, tagged: Container[int] = (), *, is_readable: bool = False
) -> Verdict:
    """Whether the post stands in the home timeline of `relations.viewer_id`.

    `relations` must know `involved_ids(post)`. Direct and limited posts reach followers that they mention, but not those
    who have ended a mute of the author since; private ones reach all followers. Whom the viewer blocks or mutes is looked
    for among the author, the boosted author and everybody whom the post or the boosted post mentions. `tagged` holds the
    posts with a hashtag that the viewer followed before they were written, and is asked only about posts that do not come
    otherwise: such a public post comes whether its author is followed or not, and answers and exclusive lists do not keep
    it out. `is_readable`: it is known already that `relations.viewer_id` may read the post.
    """
    verdict = people_verdict(post, relations, is_readable=is_readable)
    if verdict.delivered and post.account_id in relations.read_apart and post.account_id != relations.viewer_id:
        verdict = Verdict.EXCLUSIVE
    if not verdict.delivered and _comes_by_hashtag(post, relations) and post.id in tagged:
        return Verdict.DELIVER
    return verdict


def people_verdict(post: HomePost, relations: Relations, *, is_readable: bool = False) -> Verdict:
    """As `home_verdict` for somebody who follows people alone: what every list asks as well."""
    viewer_id, original = relations.viewer_id, post.original
    addressed = post.addressed_ids if original is None else original.addressed_ids
    if viewer_id is None or not (is_readable or can_see(post, viewer_id, relations, addressed)):
        return _why_unreadable(post, relations)
    if post.account_id == viewer_id:
        return Verdict.DELIVER
    follow = relations.following.get(post.account_id)
    if follow is None:
        return Verdict.NOT_FOLLOWED
    if is_broken_reply(post):
        return Verdict.BROKEN_REPLY
    if follow.direct_since is not None and is_for_addressed(post.visibility) and post.created_at <= follow.direct_since:
        return Verdict.DIRECT_BEFORE
    if follow.languages and post.language and post.language not in follow.languages:
        return Verdict.LANGUAGE
    if _hides_somebody(post, relations):
        return Verdict.HIDDEN
    if original is None:
        return _reply_verdict(post, viewer_id, relations)
    return _reblog_verdict(original, follow, relations)


def _comes_by_hashtag(post: HomePost, relations: Relations) -> bool:
    return (
        is_followable_by_hashtag(post)
        and can_see(post, relations.viewer_id, relations, post.addressed_ids)
        and not _hides_somebody(post, relations)
        and post.account_id not in relations.domain_blocking
    )


def is_followable_by_hashtag(post: HomePost) -> bool:
    """Whether followers of its hashtags get the post: a public one, no boost, of an author who is not limited."""
    return is_listed(post.visibility) and post.original is None and not post.is_author_limited


def is_broken_reply(post: HomePost) -> bool:
    """Whether it answers a post that was never known here. Of a deleted one it is still known whom it answers."""
    return post.is_orphan and post.in_reply_to_id is None and post.in_reply_to_account_id is None


def _why_unreadable(post: HomePost, relations: Relations) -> Verdict:
    authors = {post.account_id} if post.original is None else {post.account_id, post.original.account_id}
    return Verdict.UNREADABLE if authors.isdisjoint(relations.blocked_by) else Verdict.BLOCKED_BY


def _hides_somebody(post: HomePost, relations: Relations) -> bool:
    if not (relations.blocking or relations.muting):
        return False
    people = {post.account_id, *post.addressed_ids}
    if post.original is not None:
        people.update((post.original.account_id, *post.original.addressed_ids))
    return not people.isdisjoint(relations.blocking) or not people.isdisjoint(relations.muting)


def _reply_verdict(post: HomePost, viewer_id: int, relations: Relations) -> Verdict:
    parent = post.in_reply_to_account_id
    welcome = parent is None or parent in (viewer_id, post.account_id) or parent in relations.following
    return Verdict.DELIVER if welcome else Verdict.REPLY_TO_STRANGER


def _reblog_verdict(original: HomePost, follow: FollowOptions, relations: Relations) -> Verdict:
    if not follow.show_reblogs:
        return Verdict.REBLOGS_HIDDEN
    if original.account_id in relations.blocked_by:
        return Verdict.BLOCKED_BY
    return Verdict.HIDDEN if original.account_id in relations.domain_blocking else Verdict.DELIVER


HOME_SETS: Final = f"""
  hidden (id) AS MATERIALIZED ({BLOCKED_BY_VIEWER} UNION {MUTED_BY_VIEWER}),
  blockers (id) AS MATERIALIZED ({BLOCKERS_OF_VIEWER}),
  blocked_domains (domain) AS MATERIALIZED ({DOMAINS_BLOCKED_BY_VIEWER})
"""
"""Who must have no part in the viewer's posts, as the beginning of a WITH."""


_EXCLUSIVE_LISTS: Final = "SELECT l.id FROM timelines_list l WHERE l.account_id = %(viewer)s AND l.exclusive"

# The first condition is asked once: most people have no such list.
IN_EXCLUSIVE_LIST: Final = f"""
EXISTS ({_EXCLUSIVE_LISTS})
  AND EXISTS (SELECT 1 FROM timelines_listmember m WHERE m.account_id = a.id AND m.list_id IN ({_EXCLUSIVE_LISTS}))
"""  # noqa: S608 (constants)
"""Whether an account `a` is in one of the viewer's exclusive lists."""


AUTHORS: Final = f"""
  authors (id) AS MATERIALIZED (
    SELECT target_id FROM accounts_follow
     WHERE account_id = %(viewer)s AND target_id NOT IN (SELECT id FROM hidden) AND target_id NOT IN (SELECT id FROM blockers)
       AND target_id NOT IN (SELECT m.account_id FROM timelines_listmember m WHERE m.list_id IN ({_EXCLUSIVE_LISTS}))
    UNION ALL
    SELECT %(viewer)s
  )
"""  # noqa: S608 (constants)
"""Whose posts may come into the home timeline, after HOME_SETS: no post of anybody else does, but by a hashtag."""


NOT_READ_APART: Final = f"""NOT (EXISTS ({_EXCLUSIVE_LISTS}) AND EXISTS (
  SELECT 1 FROM timelines_listmember m WHERE m.account_id = s.account_id AND m.list_id IN ({_EXCLUSIVE_LISTS})))"""  # noqa: S608 (constants)
"""Whether the author of a post `s` is in none of the viewer's exclusive lists."""


PEOPLE_CONDITION: Final = f"""
  s.deleted_at IS NULL AND author.suspended_at IS NULL
  AND (s.reblog_of_id IS NULL OR (
    o.deleted_at IS NULL AND boosted.suspended_at IS NULL
    AND (o.account_id = %(viewer)s OR (
      o.account_id NOT IN (SELECT id FROM blockers)
      AND {readable_sql("o", follows_author=FOLLOWED.format(author="o.account_id"))}))))
  AND (s.account_id = %(viewer)s OR (
    source.id IS NOT NULL AND s.account_id NOT IN (SELECT id FROM hidden) AND s.account_id NOT IN (SELECT id FROM blockers)
    -- Of a boost nobody is addressed, so it is read as its visibility says.
    AND {readable_sql("s", follows_author="TRUE", may_be_addressed="s.reblog_of_id IS NULL")}
    AND (s.in_reply_to_uri IS NULL OR s.in_reply_to_id IS NOT NULL OR s.in_reply_to_account_id IS NOT NULL)
    AND (source.direct_since IS NULL OR s.created_at > source.direct_since OR NOT {ADDRESSED_POST})
    AND (s.language IS NULL OR s.language = '' OR source.languages IS NULL OR cardinality(source.languages) = 0
         OR s.language = ANY(source.languages))
    AND (NOT EXISTS (SELECT 1 FROM hidden) OR (
      (o.account_id IS NULL OR o.account_id NOT IN (SELECT id FROM hidden))
      AND NOT EXISTS (SELECT 1 FROM statuses_mention m WHERE m.status_id IN (s.id, o.id)
                        AND m.account_id IN (SELECT id FROM hidden))))
    AND CASE WHEN s.reblog_of_id IS NOT NULL
             THEN source.show_reblogs AND (boosted.domain IS NULL OR boosted.domain NOT IN (SELECT domain FROM blocked_domains))
             ELSE s.in_reply_to_account_id IS NULL OR s.in_reply_to_account_id IN (%(viewer)s, s.account_id)
                  OR {FOLLOWED.format(author="s.in_reply_to_account_id")} END))
"""  # noqa: S608 (constants)
"""`people_verdict` in SQL, after HOME_SETS: `s` is the post, `author` its author and `source` the viewer's follow of that one;
`o` is the boosted post and `boosted` that one's author (left joins, but for the author).
"""

HOME_CONDITION: Final = f"{PEOPLE_CONDITION} AND (s.account_id = %(viewer)s OR {NOT_READ_APART})"
"""`home_verdict` in SQL with the same names, without what comes by hashtags."""


BY_HASHTAG: Final = f"""
  {PUBLIC_POST}
  AND s.account_id NOT IN (SELECT id FROM hidden) AND s.account_id NOT IN (SELECT id FROM blockers)
  AND author.suspended_at IS NULL AND author.limited_at IS NULL
  AND (author.domain IS NULL OR author.domain NOT IN (SELECT domain FROM blocked_domains))
  AND NOT EXISTS (SELECT 1 FROM statuses_mention m WHERE m.status_id = s.id AND m.account_id IN (SELECT id FROM hidden))
"""  # noqa: S608 (constants)
"""Whether a post `s` with a followed hashtag comes home by it, with the same names."""
