"""Ports through which this app calls apps of higher layers."""

from typing import Protocol

from accounts.collections.models import Collection
from accounts.models import Account
from social.kernel.ports import Port
from statuses.models import Status


class RemoteObjects(Protocol):
    """Finds the object with a remote address, over the network."""

    def find_by_url(self, url: str) -> Account | Status | Collection | None:
        """Return the account, post or collection of accounts whose id or page is `url`; None for anything else, and when it
        cannot be fetched. Called outside of a transaction; takes at most five seconds.
        """
        ...


remote_objects: Port[RemoteObjects] = Port("timelines.ports.remote_objects")
