"""Finds people of other servers who are not known here yet."""

from __future__ import annotations

from accounts.models import Account
from accounts.ports import remote_accounts
from accounts.queries.accounts import by_address, find_by_address, split_address
from social.kernel.errors import NotFound


def resolve_address(address: str) -> Account | None:
    """The account with an address, asking its server when it is unknown here; None when it cannot be found.

    Outside of a transaction; takes at most five seconds (contract, parameters section 2 `resolve`).
    """
    pair = split_address(address)
    if pair is None or pair[1] is None:
        return None
    wanted = (pair[0].lower(), pair[1])
    known = by_address([wanted]).get(wanted)
    finder = remote_accounts.find()
    if known is not None or finder is None:
        return known
    return finder.find_by_address([wanted]).get(wanted)


def find_or_resolve(address: str) -> Account:
    """The account with an address, its server asked as by `resolve_address`. Raises NotFound."""
    try:
        return find_by_address(address)
    except NotFound:
        account = resolve_address(address)
        if account is None:
            raise
        return account
