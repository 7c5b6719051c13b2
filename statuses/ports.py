"""Ports by which this app asks an app above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from accounts.models import Account
from social.api.async_refresh import AsyncRefresh
from social.kernel.ports import Port
from statuses.models import MediaAttachment


class RemoteThreads(Protocol):
    """Has the answers to posts of other servers fetched in the background."""

    def refresh(self, status_id: int) -> AsyncRefresh | None:
        """Have what is above and below a post of another server fetched, if that was not done lately; how far it is while
        it goes on, else None.
        """
        ...

    def find(self, status_id: int) -> AsyncRefresh | None:
        """State of that for the post with this id; None when it was not asked for lately."""
        ...


class RemoteDocuments(Protocol):
    """Reads the documents of posts of other servers that wait for review."""

    def read_files(self, author: Account, document: str) -> Sequence[MediaAttachment]:
        """The files that the post would have, without rows; no server is asked for them."""
        ...


remote_documents: Port[RemoteDocuments] = Port("statuses.ports.remote_documents")
remote_threads: Port[RemoteThreads] = Port("statuses.ports.remote_threads")
