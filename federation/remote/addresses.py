"""Answers the port of `accounts.ports`: finds people of other servers by their address, over the network."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from typing import Final

from accounts.models import Account
from federation.documents.reading import Rejected
from federation.remote import webfinger
from federation.remote.actors import find_or_fetch, is_stale, refresh
from social.kernel.errors import KernelError

logger = logging.getLogger("social.federation")

SECONDS: Final = 5.0


class RemoteAddresses:
    """People by WebFinger and their actors; what cannot be found within five seconds is left out."""

    def find_by_address(self, addresses: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        """See `accounts.ports.RemoteAccounts`."""
        end = time.monotonic() + SECONDS
        found: dict[tuple[str, str], Account] = {}
        for address in addresses:
            left = end - time.monotonic()
            if left <= 0.2:
                break
            account = find_remote(*address, deadline=left)
            if account is not None:
                found[address] = account
        return found


def find_remote(username: str, domain: str, *, deadline: float = SECONDS) -> Account | None:
    """The account with an address, from its server; None when there is none or its server does not say so in time."""
    try:
        address = webfinger.look_up(username, domain, deadline=deadline)
        account = find_or_fetch(address.actor_uri, deadline=deadline)
        if is_stale(account):
            account = refresh(account, deadline=deadline)
    except (Rejected, KernelError) as error:
        logger.info("No account for %s@%s: %s", username, domain, error)
        return None
    proper = (account.username.lower(), (account.domain or "").lower())
    return account if proper == (address.username.lower(), address.domain) else None
