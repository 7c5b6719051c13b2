"""Finds users and accounts that are named on the command line; for an unknown name the command ends with an error message."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, TypeVar

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Model, QuerySet
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.queries.accounts import has_address, split_address
from social.kernel.errors import KernelError


def find_user_named(name: str) -> User:
    """Return the local user with this username, in any state, with account and role. Raises CommandError."""
    username = name.strip().removeprefix("@")
    user = User.objects.select_related("account", "role").filter(has_address(username, None, "account__")).first()
    if user is None:
        raise CommandError(_("There is no local account @%(name)s.") % {"name": username})
    return user


def find_users_named(names: Sequence[str]) -> list[User]:
    """Find the named users, in the given order, without duplicates. Raises CommandError for an unknown name."""
    users = (find_user_named(name) for name in names)
    return list({user.pk: user for user in users}.values())


def find_account_named(address: str) -> Account:
    """Return the account with this address (`ada`, `@ada@there.example`), in any state. Raises CommandError."""
    pair = split_address(address)
    account = None
    if pair is not None and "\0" not in address:
        account = Account.objects.filter(has_address(*pair)).first()
    if account is None:
        raise CommandError(_("There is no account %(address)s here.") % {"address": address})
    return account


def find_accounts_named(addresses: Sequence[str]) -> list[Account]:
    """Find the accounts with these addresses, in the given order, without duplicates. Raises CommandError if one is unknown."""
    accounts = (find_account_named(address) for address in addresses)
    return list({account.pk: account for account in accounts}.values())


#: Arguments of commands: local users by username, and accounts of any server by address.
LocalUser = Annotated[User, find_user_named, ("metavar", "USERNAME")]
LocalUsers = Annotated[Sequence[User], find_users_named, ("metavar", "USERNAME")]
_HELP = ("help", "ada, or ada@there.example")
AnyAccount = Annotated[Account, find_account_named, ("metavar", "ADDRESS"), _HELP]
AnyAccounts = Annotated[Sequence[Account], find_accounts_named, ("metavar", "ADDRESS"), _HELP]


_Row = TypeVar("_Row", bound=Model)
_Person = TypeVar("_Person", Account, User)


def named_or_all(named: Sequence[_Row], everybody: QuerySet[_Row] | None, sentence: str) -> tuple[Iterable[_Row], int]:
    """Return the `named` rows or `everybody`, and the number of rows. Raises CommandError (`sentence`) if both are given, or if
    neither is.
    """
    if bool(named) is (everybody is not None):
        raise CommandError(sentence)
    return (named, len(named)) if everybody is None else (everybody.iterator(), everybody.count())


def for_each(
    command: BaseCommand, people: Iterable[_Person], count: int, act: Callable[[_Person], object], *, dry_run: bool
) -> None:
    """Call `act` for each person, unless `dry_run`, and print a line with its result. Raises CommandError."""
    for number, one in enumerate(people, start=1):
        address = one.acct if isinstance(one, Account) else one.account.username
        try:
            note = "" if dry_run else act(one)
        except KernelError as error:
            raise CommandError(f"@{address}: {error.message}") from None
        command.stdout.write(f"{number}/{count} @{address}{note if isinstance(note, str) else ''}")
    if not count:
        command.stdout.write("nobody")
