"""Decides which posts belong to a home or list timeline, and which boosts repeat a nearby item.

The rules of home and list timelines exist in two forms: for a post in memory, and in SQL. Property tests compare both forms
(contract, behaviours section 11, "Home", "List timeline" and "Reblogs are aggregated"). Fan-out applies the form in memory
before it writes to a feed, and readers apply it again when they load the feed. The SQL form finds the posts that a feed does
not contain.

The authors of a list's posts are the members whom the owner follows, and the owner if the owner is a member. Replies to other
accounts must pass the list's replies policy first, then the rule of the home timeline; hashtags and exclusive lists are not
considered. Posts that only addressed accounts may read are never in a list.
"""

from collections.abc import Collection, Container, Sequence
from enum import StrEnum
from typing import Final, TypeVar

from accounts.policies.audience import PRESENT, VIEWER_SETS
from accounts.policies.relations import FOLLOWED, NO_RELATIONS, Relations
from statuses.policies.audience import FOLLOWED_HASHTAG, HASHTAG_TIMELINE, HOME, NAMES_HIDDEN, can_see
from statuses.policies.posts import Post
from statuses.policies.visibility import (
    ADDRESSED_POST,
    FOLLOWER_VISIBILITIES,
    LIVE_POST,
    is_for_addressed,
    readable_sql,
)
from timelines.models import RepliesPolicy


class FeedReason(StrEnum):
    """Reason why a post is in a home timeline, or is not."""

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
    IMPORTED = "the author has imported it from an archive"

    @property
    def delivered(self) -> bool:
        return self is FeedReason.DELIVER


def involved_ids(post: Post) -> set[int]:
    """Return the accounts that the viewer's relations must include for `home_verdict`."""
    ids = {post.account_id, *post.addressed_ids}
    if post.in_reply_to_account_id is not None:
        ids.add(post.in_reply_to_account_id)
    if post.original is not None:
        ids.update((post.original.account_id, *post.original.addressed_ids))
    return ids


def home_verdict(
    post: Post, relations: Relations, tagged: Container[int] = (), *, is_readable: bool = False
) -> FeedReason:
    """Return why the post is in the home timeline of `relations.viewer_id`, or why it is not.

    `relations` must include `involved_ids(post)`. Direct and limited posts reach the followers they mention, except followers
    who ended a mute of the author after the post was written; private posts reach all followers. A post is hidden if the viewer
    blocks or mutes the author, the boosted author or a mentioned account. `tagged` contains each post with a hashtag that the
    viewer followed before the post was written. `tagged` is consulted last: a public post in it is delivered even if its author
    is not followed or is in an exclusive list, or if it is a reply. `is_readable` means that the viewer is known to be allowed
    to read the post.
    """
    verdict = people_verdict(post, relations, is_readable=is_readable)
    if verdict is FeedReason.DELIVER:
        if post.account_id not in relations.read_apart or post.account_id == relations.viewer_id:
            return verdict
        verdict = FeedReason.EXCLUSIVE
    if FOLLOWED_HASHTAG.shows(post, relations) and post.id in tagged:
        return FeedReason.DELIVER
    return verdict


def people_verdict(post: Post, relations: Relations, *, is_readable: bool = False) -> FeedReason:
    """Return the reason as `home_verdict` does, but regardless of hashtags and exclusive lists; used for lists as well."""
    viewer_id, original = relations.viewer_id, post.original
    addressed = post.addressed_ids if original is None else original.addressed_ids
    if viewer_id is None or not (is_readable or can_see(post, viewer_id, relations, addressed)):
        return _why_unreadable(post, relations)
    if post.imported:
        return FeedReason.IMPORTED
    if post.account_id == viewer_id:
        return FeedReason.DELIVER
    follow = relations.following.get(post.account_id)
    if follow is None:
        return FeedReason.NOT_FOLLOWED
    if is_broken_reply(post):
        return FeedReason.BROKEN_REPLY
    if follow.direct_since is not None and is_for_addressed(post.visibility) and post.created_at <= follow.direct_since:
        return FeedReason.DIRECT_BEFORE
    if follow.languages and post.language and post.language not in follow.languages:
        return FeedReason.LANGUAGE
    if original is not None and not follow.show_reblogs:
        return FeedReason.REBLOGS_HIDDEN
    if not HOME.shows(post, relations):
        return FeedReason.HIDDEN
    answered_id = post.in_reply_to_account_id
    if original is not None or answered_id in (None, viewer_id, post.account_id) or answered_id in relations.following:
        return FeedReason.DELIVER
    return FeedReason.REPLY_TO_STRANGER


def is_followable_by_hashtag(post: Post) -> bool:
    """Tell whether the post may be delivered to followers of its hashtags."""
    return HASHTAG_TIMELINE.shows(post, NO_RELATIONS)


def is_broken_reply(post: Post) -> bool:
    """Tell whether the post replies to a post that was never known here. A deletion does not clear `in_reply_to_account_id`."""
    return post.is_orphan and post.in_reply_to_id is None and post.in_reply_to_account_id is None


def _why_unreadable(post: Post, relations: Relations) -> FeedReason:
    authors = {post.account_id} if post.original is None else {post.account_id, post.original.account_id}
    return FeedReason.UNREADABLE if authors.isdisjoint(relations.blocked_by) else FeedReason.BLOCKED_BY


_EXCLUSIVE_LISTS: Final = "SELECT l.id FROM timelines_list l WHERE l.account_id = %(viewer)s AND l.exclusive"

# Most users have no exclusive list. The first condition is evaluated once per query. If it is false, the second condition is
# not evaluated for each account.
EXCLUSIVE_LIST_CONDITION: Final = f"""
EXISTS ({_EXCLUSIVE_LISTS})
  AND EXISTS (SELECT 1 FROM timelines_listmember m WHERE m.account_id = a.id AND m.list_id IN ({_EXCLUSIVE_LISTS}))
"""  # noqa: S608 (constants)
"""SQL condition: an account `a` is in one of the viewer's exclusive lists."""


AUTHORS: Final = f"""
  authors (id) AS MATERIALIZED (
    SELECT target_id FROM accounts_follow
     WHERE account_id = %(viewer)s AND target_id NOT IN (SELECT id FROM hidden) AND target_id NOT IN (SELECT id FROM blockers)
       AND target_id NOT IN (SELECT m.account_id FROM timelines_listmember m WHERE m.list_id IN ({_EXCLUSIVE_LISTS}))
    UNION ALL
    SELECT %(viewer)s
  )
"""  # noqa: S608 (constants)
"""SQL, to be placed after VIEWER_SETS: the authors whose posts may be in the home timeline without a followed hashtag."""


INCLUSIVE_CONDITION: Final = f"""NOT (EXISTS ({_EXCLUSIVE_LISTS}) AND EXISTS (
  SELECT 1 FROM timelines_listmember m WHERE m.account_id = s.account_id AND m.list_id IN ({_EXCLUSIVE_LISTS})))"""  # noqa: S608 (constants)
"""SQL condition: the author of a post `s` is in none of the viewer's exclusive lists."""


PEOPLE_CONDITION: Final = f"""
  s.deleted_at IS NULL AND {LIVE_POST} AND {HOME.authors.sql("s.account_id", joined="author")}
  AND (s.reblog_of_id IS NULL OR (
    o.deleted_at IS NULL AND {PRESENT.sql("o.account_id", joined="boosted")}
    AND (o.account_id = %(viewer)s OR {readable_sql("o", follows_author=FOLLOWED.format(author="o.account_id"))})))
  AND (s.account_id = %(viewer)s OR (
    source.id IS NOT NULL
    -- A boost addresses nobody, so its visibility alone decides who may read it.
    AND {readable_sql("s", follows_author="TRUE", may_be_addressed="s.reblog_of_id IS NULL")}
    AND (s.in_reply_to_uri IS NULL OR s.in_reply_to_id IS NOT NULL OR s.in_reply_to_account_id IS NOT NULL)
    AND (source.direct_since IS NULL OR s.created_at > source.direct_since OR NOT {ADDRESSED_POST})
    AND (s.language IS NULL OR s.language = '' OR source.languages IS NULL OR cardinality(source.languages) = 0
         OR s.language = ANY(source.languages))
    AND (NOT EXISTS (SELECT 1 FROM hidden) OR NOT {NAMES_HIDDEN.format(posts="s.id, o.id")})
    AND CASE WHEN s.reblog_of_id IS NOT NULL
             THEN source.show_reblogs AND {(HOME.boosted or HOME.authors).sql("o.account_id", joined="boosted")}
             ELSE s.in_reply_to_account_id IS NULL OR s.in_reply_to_account_id IN (%(viewer)s, s.account_id)
                  OR {FOLLOWED.format(author="s.in_reply_to_account_id")} END))
"""  # noqa: S608 (constants)
"""SQL form of `people_verdict`, to be placed after VIEWER_SETS. The statement must name the post `s`, its author's account
`author`, the boosted post `o`, the account of its author `boosted`, and the viewer's follow of the author `source`.
"""

HOME_CONDITION: Final = f"{PEOPLE_CONDITION} AND (s.account_id = %(viewer)s OR {INCLUSIVE_CONDITION})"
"""SQL form of `home_verdict`, with the names of PEOPLE_CONDITION, but without the posts that a followed hashtag includes."""


def list_verdict(
    post: Post, relations: Relations, replies_policy: str, members: Collection[int], *, is_readable: bool = False
) -> FeedReason:
    """Return why the post is in the list of `relations.viewer_id` with this replies policy, or why it is not, as `home_verdict`
    does. `members` are the members of the list, including the author and the replied-to account if they are in it.
    """
    if post.account_id not in members:
        return FeedReason.NOT_FOLLOWED
    if post.visibility not in FOLLOWER_VISIBILITIES:
        return FeedReason.UNREADABLE
    answered_id = post.in_reply_to_account_id
    if (
        answered_id not in (None, post.account_id, relations.viewer_id)
        and replies_policy != RepliesPolicy.FOLLOWED
        and not (replies_policy == RepliesPolicy.LIST and answered_id in members)
    ):
        return FeedReason.REPLY_TO_STRANGER
    return people_verdict(post, relations, is_readable=is_readable)


LIST_SETS: Final = f"""
  {VIEWER_SETS},
  members (id) AS MATERIALIZED (SELECT account_id FROM timelines_listmember WHERE list_id = %(list)s)
"""  # noqa: S608 (constants)
"""Beginning of a WITH clause: the relations of the list's owner, and the members of the list."""

MEMBER_CONDITION: Final = "s.account_id IN (SELECT id FROM members)"
"""SQL condition, to be placed after LIST_SETS: a post `s` is by a member."""

_REPLY_CONDITION: Final = (
    "(s.in_reply_to_account_id IS NULL OR s.in_reply_to_account_id IN (s.account_id, %(viewer)s){more})"
)

_REPLY_CONDITIONS: Final = {
    RepliesPolicy.NONE: _REPLY_CONDITION.format(more=""),
    RepliesPolicy.LIST: _REPLY_CONDITION.format(more=" OR s.in_reply_to_account_id IN (SELECT id FROM members)"),
    RepliesPolicy.FOLLOWED: "TRUE",
}


def list_condition(replies_policy: RepliesPolicy) -> str:
    """Return the SQL form of `list_verdict`, to be placed after LIST_SETS, with the names of `PEOPLE_CONDITION`."""
    return f"{MEMBER_CONDITION} AND NOT {ADDRESSED_POST} AND {_REPLY_CONDITIONS[replies_policy]} AND {PEOPLE_CONDITION}"


BOOST_WINDOW: Final = 40
"""A boost is hidden if its post, or another boost of that post, is among this many next older items, shown or not."""

Item = TypeVar("Item", bound=tuple[int, int])


def repeated_items(items: Sequence[Item]) -> list[Item | None]:
    """Return for each item of a timeline (id, boosted post's id or 0; oldest first, without gaps) the item that it repeats, or
    None. The first `BOOST_WINDOW` items are compared with fewer items, because the items before them are unknown.
    """
    found: list[Item | None] = [None] * len(items)
    last_places: dict[int, int] = {}
    for place, (post, original) in enumerate(items):
        if not original:
            last_places[post] = place
            continue
        last = last_places.get(original)
        if last is not None and place - last <= BOOST_WINDOW:
            found[place] = items[last]
        last_places[original] = place
    return found
