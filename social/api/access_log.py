"""How one line per request is written without costing as much as the request.

In JSON the line bypasses the redaction of the general log (a third of a trivial request): it holds nothing a client can
put a secret in but the path, and long segments of that are cut by the caller (security row 48).
"""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Final

import orjson
from django.conf import settings

logger: Final = logging.getLogger("social.access")
_FIELDS: Final = ("method", "path", "status", "milliseconds", "address", "request_id")


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")[:26] + "Z"
        line = {"event": "request", "level": "info", "logger": record.name, "at": moment}
        for name in _FIELDS:
            line[name] = record.__dict__[name]
        return orjson.dumps(line, default=str).decode()


def set_up() -> None:
    """Give the access log its own handler where logs are JSON; elsewhere it goes with the other lines."""
    if settings.LOGGING.get("format") != "json" or any(isinstance(h.formatter, _JsonLine) for h in logger.handlers):
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLine())
    logger.addHandler(handler)
    logger.propagate = False


def is_written() -> bool:
    """Whether lines of the access log are wanted at all."""
    return logger.isEnabledFor(logging.INFO)


def write(*, method: str, path: str, status: int, milliseconds: float, address: str, request_id: str) -> None:
    """One line; asked for where `is_written`."""
    extra = {
        "method": method,
        "path": path,
        "status": status,
        "milliseconds": milliseconds,
        "address": address,
        "request_id": request_id,
    }
    # Made by hand: logger.info would look for the calling line in the stack.
    logger.handle(logger.makeRecord(logger.name, logging.INFO, __file__, 0, "request", (), None, extra=extra))
