"""Looks up the users and accounts that are named on the command line; an unknown name is an error of one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.models import Account, User
from accounts.queries.accounts import has_address, split_address


def find_user_named(name: str) -> User:
    """The local user with this username, in any state, with account and role loaded. Raises CommandError if there is
    none.
    """
    username = name.strip().removeprefix("@")
    found = User.objects.select_related("account", "role").filter(has_address(username, None, "account__")).first()
    if found is None:
        raise CommandError(_("There is no local account @%(name)s.") % {"name": username})
    return found


def find_users_named(names: Sequence[str]) -> list[User]:
    """Find the named users, each once, in their order. Raises CommandError if any name is unknown, before a caller
    changes anything.
    """
    found = (find_user_named(name) for name in names)
    return list({user.pk: user for user in found}.values())


def find_account_named(address: str) -> Account:
    """The account with this address (`ada`, `@ada@there.example`), in any state. Raises CommandError if there is none."""
    pair = split_address(address)
    found = None
    if pair is not None and "\0" not in address:
        found = Account.objects.filter(has_address(*pair)).first()
    if found is None:
        raise CommandError(_("There is no account %(address)s here.") % {"address": address})
    return found


def find_accounts_named(addresses: Sequence[str]) -> list[Account]:
    """Find the accounts with these addresses, each once, in their order. Raises CommandError like `find_users_named`."""
    found = (find_account_named(address) for address in addresses)
    return list({account.pk: account for account in found}.values())
