"""Ports: interfaces that this app calls, and that an app of a higher layer implements."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

from accounts.models import Account
from social.kernel.ports import Port


class RemoteAccounts(Protocol):
    """Finds remote accounts by their address, over the network."""

    def find_by_address(self, addresses: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        """Return the accounts with these addresses (username, domain), in lower case and Punycode, that are found within five
        seconds. Call it outside of a transaction. Errors from other servers are not raised.
        """
        ...

    def seek(
        self, addresses: Collection[tuple[str, str | None]], *, wanted_by: str
    ) -> Collection[tuple[str, str | None]]:
        """Queue the accounts with these addresses for a look-up; return those that a recent look-up did not find.

        Requests to each server are rate-limited. An account is queued only once. Only a limited number of accounts is queued
        for each `wanted_by` (a person or a server), so call it again for the others.
        """
        ...

    def refresh(self, account: Account) -> Account:
        """Update the account from its own server, which takes at most five seconds, and return it. Raises Unavailable."""
        ...


remote_accounts: Port[RemoteAccounts] = Port("accounts.ports.remote_accounts")


welcome: Port[Callable[[], Mapping[str, Any]]] = Port("accounts.ports.welcome")
"""Port for template values of the front page that visitors see: people, posts and statistics of this server."""
