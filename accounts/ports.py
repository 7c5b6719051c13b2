"""What this app asks of an app above it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import Protocol

from accounts.models import Account
from social.kernel.ports import Port


class Search(Enum):
    """How it stands with finding an account of another server in the background."""

    UNDER_WAY = "under way"
    LATER = "later"
    """Too much waits for its server: it may be asked for again in a while."""
    FAILED = "failed"
    """It could not be found a short time ago."""


class RemoteAccounts(Protocol):
    """Finds people of other servers by their address, over the network."""

    def find_by_address(self, addresses: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        """The accounts behind (username, domain) pairs, in lower case and Punycode, keyed as asked.

        Asked outside of a transaction; takes at most five seconds altogether, and leaves out what it cannot find in
        them: never raises for what another server does.
        """
        ...

    def seek(self, addresses: Collection[tuple[str, str | None]]) -> Mapping[tuple[str, str | None], Search]:
        """Have the accounts behind these addresses found in the background, little of each server at a time."""
        ...

    def sought(self, addresses: Collection[tuple[str, str | None]]) -> Collection[tuple[str, str | None]]:
        """Those of these addresses that are being looked for now."""
        ...

    def refresh(self, account: Account) -> Account:
        """The account as its own server describes it now. Takes at most five seconds; raises Unavailable."""
        ...


remote_accounts: Port[RemoteAccounts] = Port("accounts.ports.remote_accounts")
