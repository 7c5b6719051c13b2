"""Ports by which this app asks an app above it."""

from __future__ import annotations

from typing import Protocol

from accounts.models import Account, Collection
from social.kernel.ports import Port
from statuses.models import Status


class RemoteObjects(Protocol):
    """Finds what an address of another server leads to, over the network."""

    def find_by_url(self, url: str) -> Account | Status | Collection | None:
        """The account, post or collection of people that has this id, or this page. Asked outside of a transaction; takes at
        most five seconds.

        None for anything else, and for what cannot be had: never raises for what another server does.
        """
        ...


remote_objects: Port[RemoteObjects] = Port("timelines.ports.remote_objects")
