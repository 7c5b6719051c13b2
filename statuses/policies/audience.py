"""Rules that decide which posts a surface (a timeline, a thread, a search, a stream) shows, and who may act on them.

One rule holds everywhere: a surface shows only posts that the viewer may read. This rule exists as a predicate (`can_see`), a
condition on querysets (`visible_to`) and SQL (`readable_by_viewer`). The additional conditions of a surface are an `Audience`,
declared once below, as a predicate and SQL; a property test compares each surface with a simple model of these rules. Sources:
contract, behaviours sections 7, 11, 14, 15 and 16.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from django.db.models import Exists, OuterRef, Q

from accounts.models import Account, Follow
from accounts.policies.audience import PRESENT, UNHIDDEN, Limited, People, is_present
from accounts.policies.relations import FOLLOWED, VIEWER_IS_BLOCKED, Relations, blocked_by
from statuses.models import Mention, Status
from statuses.policies.posts import Post
from statuses.policies.visibility import (
    FEDERATED_POST,
    FOLLOWER_VISIBILITIES,
    LIVE_POST,
    OPEN_VISIBILITIES,
    PUBLIC_POST,
    is_for_anybody,
    is_for_followers_only,
    is_listed,
    readable_sql,
)


def can_see(post: Post, viewer_id: int | None, relations: Relations, mentioned_ids: Collection[int]) -> bool:
    """Tell whether the viewer (None for an anonymous viewer) may read the post. `relations` include the author and boosted
    author. `mentioned_ids` are the accounts that the post, or the boosted post, addresses, silently or not.
    """
    original = post.original
    if original is not None:
        return _can_see_itself(post, viewer_id, relations, ()) and _can_see_itself(
            original, viewer_id, relations, mentioned_ids
        )
    return _can_see_itself(post, viewer_id, relations, mentioned_ids)


def _can_see_itself(post: Post, viewer_id: int | None, relations: Relations, mentioned_ids: Collection[int]) -> bool:
    # Even a mentioned account sees no posts by an account that blocks it (SEED-129).
    if post.is_deleted or not PRESENT.shows(post.account_id, relations, post.author.is_suspended):
        return False
    if viewer_id is not None and post.account_id == viewer_id:
        return True
    if post.local_only and (viewer_id is None or relations.is_remote):
        return False
    if post.visibility in OPEN_VISIBILITIES:
        return True
    if viewer_id is None:
        return False
    if viewer_id in mentioned_ids:
        return True
    return is_for_followers_only(post.visibility) and post.account_id in relations.following


def is_for_everybody(post: Post | Status) -> bool:
    """Tell whether everybody, including visitors and other servers, may read the post: it is public or unlisted, and not
    local-only.
    """
    return is_for_anybody(post.visibility) and not post.local_only


def may_favourite(post: Post | Status, relations: Relations) -> bool:
    """Tell whether the viewer may favourite the post; a viewer who blocks the author may not (section 7)."""
    return post.account_id not in relations.blocking


def may_reblog(account: Account, post: Post | Status, relations: Relations) -> bool:
    """Tell whether the viewer may boost the post. Only the author may boost a private post; a viewer who blocks the author may
    boost none of the author's posts.
    """
    if is_for_followers_only(post.visibility):
        return post.account_id == account.id
    return post.visibility in OPEN_VISIBILITIES and post.account_id not in relations.blocking


def visible_to(viewer_id: int | None, *, prefix: str = "") -> Q:
    """Return `can_see` as a condition on a queryset of Status; for a boost, the boosted post must be visible as well.

    `prefix` (`"status__"`) is the path to the post in a queryset of another model.
    """
    boosted = f"{prefix}reblog_of__"
    itself = _visible_itself(viewer_id, prefix)
    return itself & (Q(**{f"{prefix}reblog_of": None}) | _visible_itself(viewer_id, boosted))


def _visible_itself(viewer_id: int | None, prefix: str) -> Q:
    exists = Q(**{f"{prefix}deleted_at": None}) & is_present(f"{prefix}account")
    open_to_all = Q(**{f"{prefix}visibility__in": OPEN_VISIBILITIES})
    if viewer_id is None:
        return exists & open_to_all & Q(**{f"{prefix}local_only": False})
    author = OuterRef(f"{prefix}account_id")
    own = Q(**{f"{prefix}account_id": viewer_id})
    followed = Exists(Follow.objects.filter(account_id=viewer_id, target_id=author))
    mentioned = Exists(Mention.objects.filter(account_id=viewer_id, status_id=OuterRef(f"{prefix}id")))
    for_followers = Q(**{f"{prefix}visibility__in": FOLLOWER_VISIBILITIES}) & Q(followed)
    here = Q(**{f"{prefix}local_only": False}) | Q(Exists(Account.objects.filter(id=viewer_id, domain=None)))
    return exists & (own | (~blocked_by(viewer_id, author) & here & (open_to_all | for_followers | Q(mentioned))))


def readable_by_viewer(author: str = "s.account_id") -> str:
    """Return `can_see` as an SQL condition on the post `s`, without the boosted post. `author` is SQL for the author's id; if
    it is a parameter, PostgreSQL evaluates the author's conditions once.
    """
    return f"""s.deleted_at IS NULL AND {PRESENT.sql(author, has_viewer=False)}
  AND ({author} = %(viewer)s OR (
    NOT {VIEWER_IS_BLOCKED.format(author=author)}
    AND {readable_sql("s", follows_author=FOLLOWED.format(author=author))}))"""


NAMES_HIDDEN: Final = """EXISTS (
  SELECT 1 FROM statuses_mention m WHERE m.status_id IN ({posts}) AND m.account_id IN (SELECT id FROM hidden))"""
"""SQL condition: the posts with the ids `{posts}` mention an account that the viewer hides. Needs VIEWER_SETS."""


@dataclass(frozen=True, slots=True)
class Audience:
    """Conditions under which a surface shows a post that its viewer may read.

    - `authors`: the accounts whose posts it shows;
    - `boosted`: the accounts whose posts it shows as boosts, if these are not the `authors`;
    - `listed`: it shows public posts only, and no boosts;
    - `live`: it leaves out posts that their authors have imported from an archive;
    - `replies`: it shows replies to other accounts too;
    - `mentions`: it leaves out posts that mention an account which the viewer blocks or mutes, except the viewer's own posts.
    """

    authors: People
    boosted: People | None = None
    listed: bool = False
    live: bool = False
    replies: bool = True
    mentions: bool = False

    def shows(self, post: Post, relations: Relations) -> bool:
        """Tell whether the surface shows the post to its viewer.

        `relations` are the viewer's relations, NO_RELATIONS for an anonymous viewer. The relations must include the author and
        the boosted author and, if `mentions` is set, the accounts that the post and the boosted post mention.
        """
        original = post.original
        if self.listed and (post.is_deleted or original is not None or not is_listed(post.visibility)):
            return False
        if self.live and post.imported:
            return False
        author = post.author
        if not self.authors.shows(post.account_id, relations, author.is_suspended, author.is_limited):
            return False
        if self.mentions and post.account_id != relations.viewer_id:
            addressed_ids = post.addressed_ids if original is None else (*post.addressed_ids, *original.addressed_ids)
            if addressed_ids and relations.hides_any(addressed_ids):
                return False
        if original is None:
            return True
        author = original.author
        return (self.boosted or self.authors).shows(
            original.account_id, relations, author.is_suspended, author.is_limited
        )

    def shows_author(self, account_id: int, mentioned: Collection[int], relations: Relations) -> bool:
        """Tell whether the surface shows a public post of an author who is neither suspended nor limited."""
        if not self.authors.shows(account_id, relations):
            return False
        return not self.mentions or account_id == relations.viewer_id or not relations.hides_any(mentioned)

    def shows_answer(self, post: Post) -> bool:
        """Tell whether the surface shows the post, considering only the account to which the post replies."""
        return self.replies or not post.is_reply or post.in_reply_to_account_id == post.account_id

    def sql(self, *, has_viewer: bool = True) -> str:
        """Return `shows` and `shows_answer` as an SQL condition on a post `s` that is not a boost. With `has_viewer` the
        condition needs VIEWER_SETS, and the viewer is an account of this server.
        """
        conditions = [PUBLIC_POST] if self.listed else []
        if self.live:
            conditions.append(LIVE_POST)
        if not has_viewer:
            conditions.append(FEDERATED_POST)
        conditions.append(self.authors.sql("s.account_id", has_viewer=has_viewer))
        if self.mentions and has_viewer:
            conditions.append(f"(s.account_id = %(viewer)s OR NOT {NAMES_HIDDEN.format(posts='s.id')})")
        if not self.replies:
            conditions.append(
                "(s.in_reply_to_account_id = s.account_id"
                " OR (s.in_reply_to_id IS NULL AND s.in_reply_to_uri IS NULL AND s.in_reply_to_account_id IS NULL))"
            )
        return " AND ".join(conditions)


_PUBLIC_AUTHORS: Final = People(hidden=True, servers=True, limited=Limited.NOBODY)

THREAD: Final = Audience(People(hidden=True, servers=True, limited=Limited.FOLLOWERS))
"""Threads, lists of quotes and posts requested by several ids (behaviours section 7), and the search among posts that the
viewer wrote, favourited, boosted, bookmarked, voted in or is mentioned in (section 15).
"""

PROFILE: Final = Audience(PRESENT, boosted=UNHIDDEN)
"""The profile of an account (sections 7 and 11), even if the viewer hides the account, but without boosts of posts by hidden
accounts."""

HOME: Final = Audience(People(hidden=True), boosted=UNHIDDEN, live=True, mentions=True)
"""Home timelines and lists, for posts of followed accounts (section 11)."""

HASHTAG_TIMELINE: Final = Audience(_PUBLIC_AUTHORS, listed=True, live=True)
"""Timelines of hashtags and links (section 11), and trending posts."""

PUBLIC_TIMELINE: Final = replace(HASHTAG_TIMELINE, replies=False)
"""The public timelines (section 11)."""

FOLLOWED_HASHTAG: Final = replace(HASHTAG_TIMELINE, mentions=True)
"""Home timelines, for posts with a followed hashtag (section 11)."""

HASHTAG_STREAM: Final = FOLLOWED_HASHTAG
"""Public and hashtag streams (section 16). Posts that quote an account outside UNHIDDEN are left out as well, because all
listeners get the same bytes, while a timeline can mark the quote as hidden for one viewer.
"""

PUBLIC_SEARCH: Final = Audience(People(hidden=True, servers=True, limited=Limited.FOLLOWERS), listed=True)
"""Search among public posts of authors who agree to be found (section 15)."""
