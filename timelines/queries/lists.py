"""Reads lists, their members and their posts, conversations and markers."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from accounts.models import Follow, FollowRequest
from accounts.policies.audience import is_present
from social.kernel.cursors import Cursor
from social.kernel.errors import require_found
from social.kernel.statements import rows_of
from timelines.models import Conversation, List, ListMember, Marker, RepliesPolicy
from timelines.policies.feeds import LIST_SETS, MEMBER_CONDITION, list_condition
from timelines.queries.home import FeedStatement, read_items
from timelines.stores.feed import FeedItem

_STATEMENTS: Final = {
    policy: FeedStatement.of(
        sets=LIST_SETS,
        authors="members",
        followed="(SELECT count(*) FROM members)",
        of_author=MEMBER_CONDITION,
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
    """Return the account's list with this id. Raises NotFound for an unknown id and for another owner's list (SEED-068)."""
    return require_found(List.objects.filter(id=list_id, account_id=account_id).first())


def owns_list(account_id: int, list_id: int) -> bool:
    """Tell whether the account owns the list."""
    return List.objects.filter(id=list_id, account_id=account_id).exists()


def list_lists(account_id: int) -> QuerySet[List]:
    """Select the account's lists, oldest first."""
    return List.objects.filter(account_id=account_id).order_by("id")


def list_lists_with(account_id: int, member_id: int) -> QuerySet[List]:
    """Select the account's lists that contain a member, oldest first."""
    rows = ListMember.objects.filter(_may_be_member(account_id), account_id=member_id)
    return list_lists(account_id).filter(id__in=rows.values("list_id"))


def list_members(user_list: List) -> QuerySet[ListMember]:
    """Select the members of a list, except accounts that are suspended (contract, behaviours section 14) or unfollowed."""
    rows = ListMember.objects.filter(_may_be_member(user_list.account_id), is_present("account"), list_id=user_list.id)
    return rows.annotate(person_id=F("account_id"))


def _may_be_member(owner_id: int) -> Q:
    followed, requested = (
        Exists(model._default_manager.filter(account_id=owner_id, target_id=OuterRef("account_id")))
        for model in (Follow, FollowRequest)
    )
    return Q(account_id=owner_id) | Q(followed) | Q(requested)


def list_list_items(user_list: List, cursor: Cursor) -> list[FeedItem]:
    """Return posts of a list at the cursor (rules: `timelines.policies.feeds`), with repeated boosts. Takes one query."""
    statement = _STATEMENTS[RepliesPolicy(user_list.replies_policy)]
    return read_items(statement, cursor, viewer=user_list.account_id, list=user_list.id)


def load_concerned_members(list_id: int, status_ids: Sequence[int]) -> set[int]:
    """Return a list's members who wrote one of these posts, or to whom one of them replies. One query (none without posts)."""
    if not status_ids:
        return set()
    return {account_id for (account_id,) in rows_of(_MEMBERS, {"list": list_id, "ids": list(status_ids)})}


def load_list_ids(account_ids: Collection[int]) -> list[int]:
    """Return the ids of these owners' lists. Takes one query."""
    return list(List.objects.filter(account_id__one_of=account_ids).values_list("id", flat=True))


def load_lists_of_members(account_ids: Iterable[int]) -> dict[int, list[tuple[int, int]]]:
    """Return for each account the lists, with their owners, that contain the account and may have a feed. Takes one query."""
    found: dict[int, list[tuple[int, int]]] = {}
    rows = ListMember.objects.filter(account_id__one_of=list(account_ids), absent=False)
    for account_id, list_id, owner_id in rows.values_list("account_id", "list_id", "list__account_id"):
        found.setdefault(account_id, []).append((list_id, owner_id))
    return found


def list_conversations(account_id: int) -> QuerySet[Conversation]:
    """Select the conversations of an account, unordered."""
    return Conversation.objects.filter(account_id=account_id)


def load_markers(account_id: int, timelines: Sequence[str]) -> list[Marker]:
    """Return the account's markers of these timelines (`home` and `notifications`), ignoring unknown names."""
    return list(Marker.objects.filter(account_id=account_id, timeline__one_of=timelines).order_by("timeline"))
