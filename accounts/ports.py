"""Ports: interfaces that this app calls, and that an app of a higher layer implements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from accounts.models import Account
from social.kernel.ports import Port


class RemoteAccounts(Protocol):
    """Finds remote accounts by their address, over the network."""

    def find_by_address(self, addresses: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        """Return the accounts with these addresses, keyed by the (username, domain) pairs, which are in lower case and
        Punycode.

        To be called outside of a transaction. It takes at most five seconds altogether, leaves out accounts that it
        cannot find in that time, and never raises because of another server.
        """
        ...

    def seek(
        self, addresses: Collection[tuple[str, str | None]], *, wanted_by: str
    ) -> Collection[tuple[str, str | None]]:
        """Queue the accounts with these addresses for a look-up in the background.

        Each server has its own rate limit, and only a limited number of addresses is queued for each `wanted_by` (a
        person or a server): call `seek` again for the other addresses. An address in the queue is not added twice.
        Returns the addresses that a recent look-up did not find and that are therefore not queued again.
        """
        ...

    def refresh(self, account: Account) -> Account:
        """Return the account, updated from its own server. Takes at most five seconds. Raises Unavailable if the server cannot
        be reached.
        """
        ...


remote_accounts: Port[RemoteAccounts] = Port("accounts.ports.remote_accounts")


welcome: Port[Callable[[], Mapping[str, Any]]] = Port("accounts.ports.welcome")
"""Port for template values of the front page that visitors see: people, posts and figures of this server."""
