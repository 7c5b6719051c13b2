"""Knows what this app asks of an app above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from accounts.models import Account
from social.kernel.ports import Port


class RemoteAccounts(Protocol):
    """Finds people of other servers by their address, over the network."""

    def find_by_address(self, addresses: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        """The accounts behind (username, domain) pairs, in lower case and Punycode, keyed as asked.

        Asked outside of a transaction; takes at most five seconds altogether, and leaves out what it cannot find in
        them: never raises for what another server does.
        """
        ...


remote_accounts: Port[RemoteAccounts] = Port("accounts.ports.remote_accounts")
