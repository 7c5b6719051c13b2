"""Knows how moments are read from PostgreSQL: by psycopg's own loader, which is ten times faster than Django's."""

from __future__ import annotations

from datetime import UTC
from typing import Any, Final

import psycopg
from django.db.backends.postgresql.psycopg_any import get_adapters_template
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_OID: Final = psycopg.adapters.types["timestamptz"].oid
_PSYCOPGS: Final[Any] = psycopg.adapters.get_loader(_OID, Format.TEXT)


class _UtcLoader(Loader):
    # Django looks at it to see whether a connection's loader is the one it wants.
    timezone = UTC

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        # psycopg's own is compiled and takes no subclasses: it is asked.
        self._load = _PSYCOPGS(oid, context).load

    def load(self, data: Buffer) -> Any:
        return self._load(data)


def load_quickly() -> None:
    """Give every connection made from now on psycopg's loader (0.5 instead of 6 microseconds for a value).

    Django's replaces the time zone of every value in Python because a project may choose one; here it is always UTC,
    and connections are set to it.
    """
    get_adapters_template(True, UTC).register_loader(_OID, _UtcLoader)
