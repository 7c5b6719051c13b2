"""Answers the port of `accounts.ports`: finds people of other servers by their address, over the network."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from typing import Final

from accounts.models import Account
from accounts.ports import Search
from federation.documents.reading import Rejected, origin_of
from federation.models import Fetch, FetchKind
from federation.remote import webfinger
from federation.remote.actors import find_or_fetch, is_stale, refresh
from federation.remote.requests import request_address
from social.kernel.errors import KernelError, Unavailable

logger = logging.getLogger("social.federation")

SECONDS: Final = 5.0
Address = tuple[str, str | None]


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

    def seek(self, addresses: Collection[Address]) -> Mapping[Address, Search]:
        """See `accounts.ports.RemoteAccounts`."""
        rows = _fetches(addresses)
        found: dict[Address, Search] = {}
        for username, domain in addresses:
            row = rows.get((username, domain))
            if row is not None:
                search = Search.UNDER_WAY if row.dead_at is None else Search.FAILED
            elif domain is None or origin_of(f"https://{domain}") is None:
                search = Search.FAILED
            else:
                search = Search.UNDER_WAY if request_address(username, domain) else Search.LATER
            found[username, domain] = search
        return found

    def sought(self, addresses: Collection[Address]) -> Collection[Address]:
        """See `accounts.ports.RemoteAccounts`."""
        return {address for address, row in _fetches(addresses).items() if row.dead_at is None}

    def refresh(self, account: Account) -> Account:
        """See `accounts.ports.RemoteAccounts`."""
        try:
            return refresh(account, deadline=SECONDS)
        except Rejected as error:
            raise Unavailable from error


def _fetches(addresses: Collection[Address]) -> dict[Address, Fetch]:
    """What there is to fetch for these addresses, given up or not."""
    names = {f"{username}@{domain}": (username, domain) for username, domain in addresses}
    rows = Fetch.objects.filter(kind=FetchKind.ADDRESS, uri__one_of=names)
    return {names[row.uri]: row for row in rows}


def find_remote(username: str, domain: str, *, deadline: float = SECONDS) -> Account | None:
    """The account with an address, from its server; None when there is none or its server does not say so in time."""
    try:
        return ask_for(username, domain, deadline=deadline)
    except (Rejected, KernelError) as error:
        logger.info("No account for %s@%s: %s", username, domain, error)
        return None


def ask_for(username: str, domain: str, *, deadline: float = SECONDS) -> Account | None:
    """As `find_remote`. Raises Rejected or Missing when its server says no, and Unavailable when it does not answer."""
    address = webfinger.look_up(username, domain, deadline=deadline)
    account = find_or_fetch(address.actor_uri, deadline=deadline)
    if is_stale(account):
        account = refresh(account, deadline=deadline)
    proper = (account.username.lower(), (account.domain or "").lower())
    return account if proper == (address.username.lower(), address.domain) else None
