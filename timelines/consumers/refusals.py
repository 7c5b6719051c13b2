"""Keeps the server from logging a refused upgrade as an error: it is an answer like any other.

Uvicorn takes only an accepted or closed handshake for a complete one; of every upgrade that is answered with an HTTP
response (the ASGI extension "WebSocket Denial Response") it says that it was left without an answer.
"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from typing import Final

from timelines.policies.streams import StreamError

_LOGGER: Final = "uvicorn.error"
_COMPLAINT: Final = "ASGI callable returned without completing handshake."
_refused: ContextVar[bool] = ContextVar("refused", default=False)


def record_refusal() -> None:
    """Remember, for the connection of this task, that its upgrade was answered with a refusal."""
    _refused.set(True)


def retry_after(error: StreamError) -> list[tuple[bytes, bytes]]:
    """The header `Retry-After` of a refusal that is our fault (503), in seconds; none of any other."""
    return [(b"retry-after", b"5")] if error.status == 503 else []


class _RefusalFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return not (_refused.get() and record.msg == _COMPLAINT)


_FILTER: Final = _RefusalFilter()


def keep_refusals_quiet() -> None:
    """Leave the complaint out of the log where it is wrong, and there alone; calling it twice is no harm."""
    logging.getLogger(_LOGGER).addFilter(_FILTER)
