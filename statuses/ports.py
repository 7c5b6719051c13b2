"""Ports through which this app calls apps of higher layers."""

from collections.abc import Sequence
from typing import Protocol

from accounts.models import Account
from social.api.async_refresh import AsyncRefresh
from social.kernel.ports import Port
from statuses.models import MediaAttachment


class RemoteThreads(Protocol):
    """Fetches, in the background, the parts of threads that are on other servers."""

    def refresh(self, status_id: int, *, account_id: int) -> AsyncRefresh | None:
        """Start fetching a post's ancestors, replies and counts, unless this was done recently; return the progress of a
        running fetch.
        """
        ...

    def find(self, status_id: int) -> AsyncRefresh | None:
        """Return the progress of fetching the thread of this post; None if the thread was not requested recently."""
        ...


class RemoteDocuments(Protocol):
    """Reads the documents of held remote posts."""

    def read_files(self, author: Account, document: str) -> Sequence[MediaAttachment]:
        """Return unsaved attachments for the files of the document, without a request to any server."""
        ...


remote_documents: Port[RemoteDocuments] = Port("statuses.ports.remote_documents")
remote_threads: Port[RemoteThreads] = Port("statuses.ports.remote_threads")


def refresh_thread(status_id: int | None, *, account_id: int) -> AsyncRefresh | None:
    """See `RemoteThreads.refresh`; None if `status_id` is None, and on a server without federation."""
    threads = remote_threads.find() if status_id is not None else None
    return threads.refresh(status_id, account_id=account_id) if threads is not None and status_id is not None else None
