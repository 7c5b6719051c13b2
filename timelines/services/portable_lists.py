"""Lists with their members as a table that people take away and bring along (`accounts.services.portable_lists`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from accounts.models import Account
from accounts.policies.transfers import BadLine, Problem
from accounts.services.portable_lists import (
    ADDRESS,
    Entry,
    Existing,
    PortableList,
    full_address,
    in_order,
    key_of,
    read_address,
    register,
)
from social.kernel.errors import NotFound
from timelines.models import ListMember
from timelines.models.list import TITLE_LIMIT
from timelines.services.lists import add_by_title, remove_members


def _members(account_id: int) -> QuerySet[ListMember]:
    return ListMember.objects.filter(list__account_id=account_id).select_related("list", "account")


def _rows(account_id: int) -> Iterator[Sequence[str]]:
    for member in in_order(_members(account_id)):
        yield member.list.title, full_address(member.account)


def _read(cells: Sequence[str]) -> Entry:
    title, address = cells[0], read_address(cells[1])
    if len(title) > TITLE_LIMIT:
        raise BadLine(Problem.CELL_TOO_LONG)
    return Entry(f"{title}\n{key_of(address)}", {"title": title}, address)


def _add(account: Account, entry: Entry, member: Account | None) -> None:
    if member is None:
        raise NotFound
    add_by_title(account=account, title=entry.values["title"], member=member)


def _existing(account_id: int, after: int, limit: int) -> list[Existing]:
    found = _members(account_id).filter(id__gt=after).order_by("id")[:limit]
    return [Existing(row.id, f"{row.list.title}\n{full_address(row.account).lower()}", row.account) for row in found]


def _remove(account: Account, thing: Existing) -> None:
    member = _members(account.id).filter(id=thing.id).first()
    if member is not None:
        remove_members(found=member.list, account_ids=[member.account_id])


LISTS: Final = PortableList(
    name="lists",
    title=_("Lists"),
    file_name="lists.csv",
    columns=("List name", ADDRESS),
    named=False,
    count=lambda account_id: _members(account_id).count(),
    rows=_rows,
    read=_read,
    add=_add,
    existing=_existing,
    remove=_remove,
    may_name_owner=True,
)


def register_lists() -> None:
    """Add the table of this app."""
    register(LISTS)
