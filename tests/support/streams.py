"""Helper that ends event streams of Mastodon.py."""

from mastodon.streaming import SSEStreamHandle


def end_stream(handle: SSEStreamHandle) -> None:
    """End the stream immediately: its own `close` waits until an event arrives."""
    handle.closed = True
    handle.connection.raw.shutdown()
    handle.join(30)
