"""The lists that people take from one server to another, each as a table (`accounts.transfers.policies`).

Each app registers its lists at start: `register(PortableList(...))`. Pages and archives offer the lists.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import Account, Follow
from accounts.models.relations import SeveredFollow
from accounts.queries.accounts import split_address
from accounts.queries.networks import list_follows
from accounts.queries.relations import list_all_blocked, list_all_muted, list_blocked_domains
from accounts.services import blocking
from accounts.services.following import FollowChange, follow_account, unfollow_account
from accounts.transfers.policies import BadLine, Problem, read_boolean, write_boolean
from social.kernel import links
from social.kernel.errors import NotFound, require_found
from social.kernel.text.languages import known_language
from social.kernel.text.names import normalise_domain


@dataclass(frozen=True)
class Entry:
    """Parsed line: the key of its subject, normalised, and its options (`values`).

    `address` names the account that must be known before the line is added, in lower case and Punycode (the domain is None for
    a local account); it is None if the line names no account.
    """

    key: str
    values: dict[str, Any]
    address: tuple[str, str | None] | None = None


@dataclass(frozen=True)
class Existing:
    """Existing entry of a list: the id of its row, the key that a line about it would have, and the account that it names."""

    id: int
    key: str
    account: Account | None = None


@dataclass(frozen=True)
class PortableList:
    """Kind of list. Every line must have a value in the first of the `columns`. `named` says whether exported files have a
    header.

    `count` and `rows` take the id of the owner. `read` parses the cells of a line, or raises BadLine. `add` adds a line, given
    the account that it names; it is idempotent, and raises KernelError. `existing` returns entries of an owner after an id, up
    to a limit; `remove` removes an entry. `may_name_owner` says whether lines may name the owner.
    """

    name: str
    title: str | Promise
    file_name: str
    columns: tuple[str, ...]
    named: bool
    count: Callable[[int], int]
    rows: Callable[[int], Iterator[Sequence[str]]]
    read: Callable[[Sequence[str]], Entry]
    add: Callable[[Account, Entry, Account | None], None]
    existing: Callable[[int, int, int], list[Existing]]
    remove: Callable[[Account, Existing], None]
    may_name_owner: bool = False


_lists: dict[str, PortableList] = {}


def register(portable: PortableList) -> None:
    """Register a list at the start of a process; pages show lists in the order of registration. Raises ValueError for a name in
    use.
    """
    if _lists.setdefault(portable.name, portable) is not portable:
        raise ValueError(f"There is a list {portable.name} already.")


def all_lists() -> list[PortableList]:
    """Return every kind of list in the order of registration."""
    return list(_lists.values())


def find_list(name: str) -> PortableList:
    """Return the list with this name. Raises NotFound."""
    return require_found(_lists.get(name))


def foreign_columns(portable: PortableList) -> frozenset[str]:
    """Return the columns that only other lists have."""
    return frozenset(column for other in all_lists() for column in other.columns) - frozenset(portable.columns)


BATCH: Final = 500
ADDRESS: Final = "Account address"


def full_address(account: Account) -> str:
    """Return the address `user@domain` of a local or remote account, with the domain in Punycode."""
    return f"{account.username}@{account.domain or settings.LOCAL_DOMAIN}"


def read_address(cell: str) -> tuple[str, str | None]:
    """Return an address in lower case and Punycode. Raises BadLine, also for an ambiguous address without a domain."""
    pair = split_address(cell)
    domain = cell.strip().removeprefix("@").partition("@")[2]
    if pair is None or not domain or not pair[0].isprintable():
        raise BadLine(Problem.NO_ADDRESS)
    return pair[0].lower(), pair[1]


def key_of(address: tuple[str, str | None]) -> str:
    """Return the key of an address: `user@domain`."""
    return f"{address[0]}@{address[1] or settings.LOCAL_DOMAIN}"


def in_order(rows: QuerySet[Any], *, newest_first: bool = False) -> Iterator[Any]:
    """Yield the rows of a queryset by id, read in batches."""
    order, further = ("-id", "id__lt") if newest_first else ("id", "id__gt")
    rows = rows.order_by(order)
    batch = list(rows[:BATCH])
    while batch:
        yield from batch
        batch = list(rows.filter(**{further: batch[-1].id})[:BATCH])


def _list_of_accounts(
    list_rows: Callable[[int], QuerySet[Any]],
    *,
    options: Callable[[Any], Sequence[str]],
    read_options: Callable[[Sequence[str]], dict[str, Any]],
    add: Callable[[Account, Account, dict[str, Any]], None],
    remove: Callable[[Account, Account], None],
    **described: Any,
) -> PortableList:
    """Build a list whose lines begin with an address, from rows with a `target`."""

    def rows(account_id: int) -> Iterator[Sequence[str]]:
        for row in in_order(list_rows(account_id)):
            yield (full_address(row.target), *options(row))

    def read(cells: Sequence[str]) -> Entry:
        address = read_address(cells[0])
        return Entry(key_of(address), read_options(cells[1:]), address)

    def add_named(account: Account, entry: Entry, target: Account | None) -> None:
        if target is None:
            raise NotFound
        add(account, target, entry.values)

    def existing(account_id: int, after: int, limit: int) -> list[Existing]:
        found = list_rows(account_id).filter(id__gt=after).order_by("id")[:limit]
        return [Existing(row.id, full_address(row.target).lower(), row.target) for row in found]

    def remove_named(account: Account, thing: Existing) -> None:
        if thing.account is not None:
            remove(account, thing.account)

    return PortableList(
        count=lambda account_id: list_rows(account_id).count(),
        rows=rows,
        read=read,
        add=add_named,
        existing=existing,
        remove=remove_named,
        **described,
    )


def _read_follow(cells: Sequence[str]) -> dict[str, Any]:
    languages = [code for part in cells[2].split(",") if (code := known_language(part)) is not None]
    return {
        "reblogs": read_boolean(cells[0]),
        "notify": read_boolean(cells[1]),
        # None if this server knows none of the languages, because an empty list would hide posts in every language.
        "languages": list(dict.fromkeys(languages)) or None,
    }


def follow_cells(row: Follow | SeveredFollow) -> tuple[str, str, str, str]:
    """Return the cells of a follow, whose `target` is loaded, in the columns of FOLLOWS."""
    languages = ", ".join(row.languages or ())
    return full_address(row.target), write_boolean(row.show_reblogs), write_boolean(row.notify), languages


def _follow(account: Account, target: Account, values: dict[str, Any]) -> None:
    follow_account(account=account, target=target, change=FollowChange(**values))


def _mute(account: Account, target: Account, values: dict[str, Any]) -> None:
    hidden = values["hide_notifications"]
    blocking.mute_account(account=account, target=target, hide_notifications=True if hidden is None else hidden)


def _read_domain(cells: Sequence[str]) -> Entry:
    domain = normalise_domain(cells[0])
    if domain is None or links.is_own_domain(domain):
        raise BadLine(Problem.NO_DOMAIN)
    return Entry(domain, {})


FOLLOWS: Final = _list_of_accounts(
    list_follows,
    name="follows",
    title=_("People you follow"),
    file_name="following_accounts.csv",
    columns=(ADDRESS, "Show boosts", "Notify on new posts", "Languages"),
    named=True,
    options=lambda row: follow_cells(row)[1:],
    read_options=_read_follow,
    add=_follow,
    remove=lambda account, target: unfollow_account(account=account, target=target),
)
BLOCKS: Final = _list_of_accounts(
    list_all_blocked,
    name="blocks",
    title=_("People you block"),
    file_name="blocked_accounts.csv",
    columns=(ADDRESS,),
    named=False,
    options=lambda row: (),
    read_options=lambda cells: {},
    add=lambda account, target, values: blocking.block_account(account=account, target=target),
    remove=lambda account, target: blocking.unblock_account(account=account, target=target),
)
MUTES: Final = _list_of_accounts(
    list_all_muted,
    name="mutes",
    title=_("People you mute"),
    file_name="muted_accounts.csv",
    columns=(ADDRESS, "Hide notifications"),
    named=True,
    options=lambda row: (write_boolean(row.hide_notifications),),
    read_options=lambda cells: {"hide_notifications": read_boolean(cells[0])},
    add=_mute,
    remove=lambda account, target: blocking.unmute_account(account=account, target=target),
)
DOMAIN_BLOCKS: Final = PortableList(
    name="domain_blocks",
    title=_("Servers you block"),
    file_name="blocked_domains.csv",
    columns=("#domain",),
    named=False,
    count=lambda account_id: list_blocked_domains(account_id).count(),
    rows=lambda account_id: ((row.domain,) for row in in_order(list_blocked_domains(account_id))),
    read=_read_domain,
    add=lambda account, entry, target: blocking.block_domain(account=account, domain=entry.key),
    existing=lambda account_id, after, limit: [
        Existing(row.id, row.domain)
        for row in list_blocked_domains(account_id).filter(id__gt=after).order_by("id")[:limit]
    ],
    remove=lambda account, thing: blocking.unblock_domain(account=account, domain=thing.key),
)


def register_lists() -> None:
    for portable in (FOLLOWS, MUTES, BLOCKS, DOMAIN_BLOCKS):
        register(portable)
