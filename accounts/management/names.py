"""The people and accounts that commands are given by name; one that is not there is an error in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.queries.accounts import has_address, split_address


def find_user_named(name: str) -> User:
    """The local user with this name, with account and role, whatever their state. Raises CommandError."""
    username = name.strip().removeprefix("@")
    found = User.objects.select_related("account", "role").filter(has_address(username, None, "account__")).first()
    if found is None:
        raise CommandError(_("There is no local account @%(name)s.") % {"name": username})
    return found


def find_users_named(names: Sequence[str]) -> list[User]:
    """Find all the users named, each once, in their order. Raises CommandError when one is unknown: nothing is begun then."""
    found = (find_user_named(name) for name in names)
    return list({user.pk: user for user in found}.values())


def find_account_named(address: str) -> Account:
    """The account with this address (`ada`, `@ada@there.example`), whatever its state. Raises CommandError."""
    pair = split_address(address)
    found = None
    if pair is not None and "\0" not in address:
        found = Account.objects.filter(has_address(*pair)).first()
    if found is None:
        raise CommandError(_("There is no account %(address)s here.") % {"address": address})
    return found


def find_accounts_named(addresses: Sequence[str]) -> list[Account]:
    """Accounts by their names, found like users by `find_users_named`."""
    found = (find_account_named(address) for address in addresses)
    return list({account.pk: account for account in found}.values())
