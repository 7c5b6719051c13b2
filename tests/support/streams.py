"""Ends event streams of Mastodon.py."""

from __future__ import annotations

from mastodon.streaming import SSEStreamHandle


def end_stream(handle: SSEStreamHandle) -> None:
    """End it for good, and at once: its own `close` waits until something arrives."""
    handle.closed = True
    handle.connection.raw.shutdown()
    handle.join(30)
