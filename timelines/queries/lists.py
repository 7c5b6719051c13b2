"""Reads lists, their members and their posts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accounts.models import Follow, FollowRequest
from social.kernel.cursors import Cursor
from social.kernel.errors import NotFound
from social.kernel.statements import fetch
from timelines.models import List, ListMember, RepliesPolicy
from timelines.policies.lists import BY_MEMBER, LIST_SETS, list_condition
from timelines.queries.home import FeedStatement, read_items
from timelines.stores.feed import FeedItem

_STATEMENTS: Final = {
    policy: FeedStatement.of(
        sets=LIST_SETS,
        authors="members",
        followed="(SELECT count(*) FROM members)",
        of_author=BY_MEMBER,
        condition=list_condition(policy),
    )
    for policy in RepliesPolicy
}

_MEMBERS: Final = """
SELECT m.account_id FROM timelines_listmember m
 WHERE m.list_id = %(list)s AND m.account_id IN (
   SELECT unnest(ARRAY[s.account_id, s.in_reply_to_account_id]) FROM statuses_status s
    WHERE s.id = ANY((SELECT %(ids)s)::bigint[]))
"""


def find_list(list_id: int, account_id: int) -> List:
    """The account's list with this id. Raises NotFound, also for somebody else's (SEED-068)."""
    found = List.objects.filter(id=list_id, account_id=account_id).first()
    if found is None:
        raise NotFound
    return found


def owns_list(account_id: int, list_id: int) -> bool:
    """Whether the list is the account's."""
    return List.objects.filter(id=list_id, account_id=account_id).exists()


def list_lists(account_id: int) -> QuerySet[List]:
    """The account's lists, the oldest first."""
    return List.objects.filter(account_id=account_id).order_by("id")


def list_lists_with(account_id: int, member_id: int) -> QuerySet[List]:
    """The account's lists that somebody is in, the oldest first."""
    rows = ListMember.objects.filter(_may_be_in_it(account_id), account_id=member_id)
    return list_lists(account_id).filter(id__in=rows.values("list_id"))


def list_members(wanted: List) -> QuerySet[ListMember]:
    """Who is in a list; suspended people are left out (contract, behaviours section 14), and those whose follow has just
    ended: they leave the list in the background.
    """
    rows = ListMember.objects.filter(_may_be_in_it(wanted.account_id), list_id=wanted.id, account__suspended_at=None)
    return rows.annotate(person_id=F("account_id"))


def _may_be_in_it(owner_id: int) -> Q:
    followed, asked = (
        Exists(model._default_manager.filter(account_id=owner_id, target_id=OuterRef("account_id")))
        for model in (Follow, FollowRequest)
    )
    return Q(account_id=owner_id) | Q(followed) | Q(asked)


def list_list_items(wanted: List, cursor: Cursor) -> list[FeedItem]:
    """Posts of a list by the rule of `timelines.policies.lists`, newest first or, when the cursor is ascending, oldest
    first. One query; repeated boosts are still in it.
    """
    statement = _STATEMENTS[RepliesPolicy(wanted.replies_policy)]
    return read_items(statement, cursor, viewer=wanted.account_id, list=wanted.id)


def load_concerned_members(list_id: int, status_ids: Sequence[int]) -> set[int]:
    """The members of a list who wrote one of these posts, or whom one of them answers. One query, none for no posts."""
    if not status_ids:
        return set()
    return {account_id for (account_id,) in fetch(_MEMBERS, {"list": list_id, "ids": list(status_ids)})}


def load_list_ids(account_ids: Collection[int]) -> list[int]:
    """The lists of these owners. One query."""
    return list(List.objects.filter(account_id__one_of=account_ids).values_list("id", flat=True))


def load_lists_of_members(account_ids: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """By account: the lists it is in that may have a feed, each with its owner. One query; accounts in none are left out."""
    found: dict[int, list[tuple[int, int]]] = {}
    rows = ListMember.objects.filter(account_id__one_of=list(account_ids), absent=False)
    for account_id, list_id, owner_id in rows.values_list("account_id", "list_id", "list__account_id"):
        found.setdefault(account_id, []).append((list_id, owner_id))
    return found
