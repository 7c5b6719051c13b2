"""Which posts are in a list's timeline. One rule written twice, side by side: for a row in memory, and in SQL.

Source: contract, behaviours section 11, "List timeline"; a property test holds the two together. Its authors are members
whom the owner follows, or the owner. What answers others passes the list's own policy first, then the rule of the home
timeline; hashtags and exclusive lists have no part in it. Posts for the addressed alone are in no list.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from accounts.policies.relations import Relations
from statuses.policies.visibility import FOR_ADDRESSED_ONLY, FOR_FOLLOWERS
from timelines.models import RepliesPolicy
from timelines.policies.home import HOME_SETS, PEOPLE_CONDITION, HomePost, Verdict, people_verdict


def list_verdict(
    post: HomePost, relations: Relations, replies_policy: str, members: Collection[int], *, is_readable: bool = False
) -> Verdict:
    """Whether the post stands in the list of `relations.viewer_id` with this policy; `is_readable` as for `home_verdict`.

    `relations` must know `involved_ids(post)`, `members` the author and whom the post answers, as far as they are in it.
    """
    if post.account_id not in members:
        return Verdict.NOT_FOLLOWED
    if post.visibility not in FOR_FOLLOWERS:
        return Verdict.UNREADABLE
    answered = post.in_reply_to_account_id
    if (
        answered not in (None, post.account_id, relations.viewer_id)
        and replies_policy != RepliesPolicy.FOLLOWED
        and not (replies_policy == RepliesPolicy.LIST and answered in members)
    ):
        return Verdict.REPLY_TO_STRANGER
    return people_verdict(post, relations, is_readable=is_readable)


LIST_SETS: Final = f"""
  {HOME_SETS},
  members (id) AS MATERIALIZED (SELECT account_id FROM timelines_listmember WHERE list_id = %(list)s)
"""  # noqa: S608 (constants)
"""The owner's and the list's sets, as the beginning of a WITH."""

BY_MEMBER: Final = "s.account_id IN (SELECT id FROM members)"
"""Whether a post `s` is by a member, after LIST_SETS."""

_ANSWERS: Final = "(s.in_reply_to_account_id IS NULL OR s.in_reply_to_account_id IN (s.account_id, %(viewer)s){more})"

_BY_POLICY: Final = {
    RepliesPolicy.NONE: _ANSWERS.format(more=""),
    RepliesPolicy.LIST: _ANSWERS.format(more=" OR s.in_reply_to_account_id IN (SELECT id FROM members)"),
    RepliesPolicy.FOLLOWED: "TRUE",
}


def list_condition(replies_policy: RepliesPolicy) -> str:
    """`list_verdict` in SQL, after LIST_SETS, with the names of `PEOPLE_CONDITION`."""
    return f"{BY_MEMBER} AND NOT {FOR_ADDRESSED_ONLY} AND {_BY_POLICY[replies_policy]} AND {PEOPLE_CONDITION}"
