"""Ports through which this app calls apps above it."""

from __future__ import annotations

from typing import Protocol

from accounts.models import Account, Collection
from social.kernel.ports import Port
from statuses.models import Status


class RemoteObjects(Protocol):
    """Finds the object behind a remote address, over the network."""

    def find_by_url(self, url: str) -> Account | Status | Collection | None:
        """Return the account, post or collection of accounts with this id or page. Called outside of a transaction; takes at
        most five seconds.

        Returns None for anything else, and when it cannot be fetched: errors of another server never raise.
        """
        ...


remote_objects: Port[RemoteObjects] = Port("timelines.ports.remote_objects")
