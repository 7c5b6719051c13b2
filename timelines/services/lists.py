"""Creates, changes and deletes lists and their members (contract, parameters "Lists"), and exports and imports them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.events import AccountUnfollowed
from accounts.models import Account, Follow, FollowRequest
from accounts.queries.accounts import list_accounts
from accounts.services.following import FollowChange, follow_account
from accounts.transfers.policies import BadLine, Problem
from accounts.transfers.services import portable_lists
from social.kernel.batches import BATCH
from social.kernel.errors import FieldError, Invalid, NotFound
from social.kernel.events import publish
from social.kernel.locks import keep_row, keep_rows, lock, lock_row
from timelines.events import ListChanged
from timelines.models import LISTS_LIMIT, TITLE_LIMIT, List, ListMember, RepliesPolicy


@dataclass(frozen=True)
class ListDraft:
    """List as a client sent it; None stands for a value that was not sent."""

    title: str | None = None
    replies_policy: str | None = None
    exclusive: bool | None = None


def create_list(*, account_id: int, draft: ListDraft) -> List:
    """Create a list. Raises Invalid for a wrong title or policy, and if the account already has LISTS_LIMIT lists."""
    new_list = List(account_id=account_id, title="")
    _write(new_list, draft)
    with transaction.atomic():
        lock(f"lists:{account_id}")
        if List.objects.filter(account_id=account_id).count() >= LISTS_LIMIT:
            raise Invalid.sentence(_("You have reached the maximum number of lists"))
        new_list.save(force_insert=True)
    return new_list


def update_list(*, found: List, draft: ListDraft) -> None:
    """Update the submitted values only. Raises Invalid; NotFound when the list was deleted meanwhile."""
    with transaction.atomic():
        row = lock_row(found)
        before = (row.replies_policy, row.exclusive)
        _write(row, draft)
        row.save()
        if (row.replies_policy, row.exclusive) != before:
            _announce(row, concerns_home=row.exclusive != before[1])
    found.title, found.replies_policy, found.exclusive = row.title, row.replies_policy, row.exclusive


def delete_list(*, found: List) -> None:
    """Delete a list; posts of an exclusive list's members return to the home timeline. Raises NotFound if already deleted."""
    with transaction.atomic():
        row = lock_row(found)
        _announce(row, concerns_home=row.exclusive)
        row.delete()


def add_members(*, found: List, account_ids: Sequence[int]) -> None:
    """Add all of these accounts to a list, or none. Raises NotFound, and Invalid for an account that is not followed or is
    already in the list.
    """
    ids = list(account_ids)
    if not ids:
        return
    if list_accounts().filter(id__one_of=ids).count() != len(ids):
        raise NotFound
    with transaction.atomic():
        lock(f"list:{found.id}")
        keep_row(found)
        if {*ids} - _allowed(found.account_id, ids):
            raise Invalid.sentence(_("Account must be a followed account"))
        if ListMember.objects.filter(list_id=found.id, account_id__one_of=ids).exists():
            raise Invalid.sentence(_("Account is already on the list"))
        ListMember.objects.bulk_create(
            (ListMember(list_id=found.id, account_id=account_id) for account_id in ids), batch_size=BATCH
        )
        _announce(found, concerns_home=found.exclusive)


def add_by_title(*, account: Account, title: str, member: Account) -> None:
    """Add an account to the list with this title, and create the list if it is missing. Follow the account if necessary. The
    account may already be in the list. Raises Invalid (title, number of lists), and the errors of `follow_account`.
    """
    with transaction.atomic():
        found = List.objects.filter(account=account, title=title).order_by("id").first()
        if found is None:
            found = create_list(account_id=account.id, draft=ListDraft(title=title))
        if not _allowed(account.id, [member.id]):
            follow_account(account=account, target=member, change=FollowChange())
        if not ListMember.objects.filter(list=found, account=member).exists():
            add_members(found=found, account_ids=[member.id])


def remove_members(*, found: List, account_ids: Sequence[int]) -> None:
    """Remove accounts from a list; accounts that are not in the list are ignored."""
    with transaction.atomic():
        ended, _rows = ListMember.objects.filter(list_id=found.id, account_id__one_of=list(account_ids)).delete()
        if ended:
            _announce(found, concerns_home=found.exclusive)


def leave_lists(events: Sequence[AccountUnfollowed]) -> None:
    """Remove unfollowed accounts from the lists of their former followers (behaviours section 11). An account that was followed
    or requested again stays. An account that has moved is replaced by its new account if the list's owner follows the new
    account.
    """
    members = ListMember.objects.filter(
        list__account_id__one_of={event.account_id for event in events},
        account_id__one_of={event.target_id for event in events},
    )
    # Most unfollowed accounts are in no list. They need no lock, because they cannot be added to a list without a follow.
    listed = set(members.values_list("list__account_id", "account_id"))
    for event in events:
        if (event.account_id, event.target_id) not in listed:
            continue
        with transaction.atomic():
            if _allowed(event.account_id, [event.target_id]):
                continue
            memberships = ListMember.objects.filter(list__account_id=event.account_id, account_id=event.target_id)
            kept_lists = keep_rows(List, memberships.values_list("list_id", flat=True))
            for member in memberships.filter(list_id__one_of=kept_lists).select_related("list", "account"):
                successor = member.account.moved_to_id
                if successor is not None and _allowed(event.account_id, [successor]):
                    ListMember.objects.get_or_create(list=member.list, account_id=successor)
                _announce(member.list, concerns_home=member.list.exclusive)
                member.delete()


def _allowed(owner_id: int, account_ids: Sequence[int]) -> set[int]:
    # The owner's follows are locked, so that a concurrent unfollow waits for the caller's transaction, and then removes the
    # accounts from the lists.
    allowed = {owner_id}
    for model in (Follow, FollowRequest):
        rows = model._default_manager.filter(account_id=owner_id, target_id__one_of=account_ids).order_by("id")
        allowed.update(rows.select_for_update().values_list("target_id", flat=True))
    return allowed & {*account_ids}


def _write(target: List, draft: ListDraft) -> None:
    errors = []
    if draft.title is not None:
        target.title = draft.title
    if not target.title.strip():
        errors.append(FieldError("title", "ERR_BLANK", _("can't be blank")))
    elif len(target.title) > TITLE_LIMIT:
        too_long = _("is too long (maximum is %(limit)d characters)") % {"limit": TITLE_LIMIT}
        errors.append(FieldError("title", "ERR_TOO_LONG", too_long))
    if draft.replies_policy is not None:
        if draft.replies_policy in RepliesPolicy.values:
            target.replies_policy = draft.replies_policy
        else:
            errors.append(FieldError("replies_policy", "ERR_INCLUSION", _("is not included in the list")))
    if draft.exclusive is not None:
        target.exclusive = draft.exclusive
    if errors:
        raise Invalid.of(errors)


def _announce(changed_list: List, *, concerns_home: bool) -> None:
    publish(ListChanged(list_id=changed_list.id, account_id=changed_list.account_id, concerns_home=concerns_home))


def _members(account_id: int) -> QuerySet[ListMember]:
    return ListMember.objects.filter(list__account_id=account_id).select_related("list", "account")


def _rows(account_id: int) -> Iterator[Sequence[str]]:
    for member in portable_lists.in_order(_members(account_id)):
        yield member.list.title, portable_lists.full_address(member.account)


def _read(cells: Sequence[str]) -> portable_lists.Entry:
    title, address = cells[0], portable_lists.read_address(cells[1])
    if len(title) > TITLE_LIMIT:
        raise BadLine(Problem.CELL_TOO_LONG)
    return portable_lists.Entry(f"{title}\n{portable_lists.key_of(address)}", {"title": title}, address)


def _add(account: Account, entry: portable_lists.Entry, member: Account | None) -> None:
    if member is None:
        raise NotFound
    add_by_title(account=account, title=entry.values["title"], member=member)


def _existing_entries(account_id: int, after: int, limit: int) -> list[portable_lists.Existing]:
    found = _members(account_id).filter(id__gt=after).order_by("id")[:limit]
    return [
        portable_lists.Existing(
            row.id, f"{row.list.title}\n{portable_lists.full_address(row.account).lower()}", row.account
        )
        for row in found
    ]


def _remove(account: Account, thing: portable_lists.Existing) -> None:
    member = _members(account.id).filter(id=thing.id).first()
    if member is not None:
        remove_members(found=member.list, account_ids=[member.account_id])


PORTABLE_LISTS: Final = portable_lists.PortableList(
    name="lists",
    title=gettext_lazy("Lists"),
    file_name="lists.csv",
    columns=("List name", portable_lists.ADDRESS),
    named=False,
    count=lambda account_id: _members(account_id).count(),
    rows=_rows,
    read=_read,
    add=_add,
    existing=_existing_entries,
    remove=_remove,
    may_name_owner=True,
)


def register_lists() -> None:
    """Register lists and their members as data that users can import and export."""
    portable_lists.register(PORTABLE_LISTS)
