"""Knows that connections come from `pool`; everything else is Django's."""

from __future__ import annotations

from typing import Any

import psycopg
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base

from social.kernel.postgresql.pool import Pool

__all__ = ["DatabaseWrapper"]


class DatabaseWrapper(base.DatabaseWrapper):
    """Takes the options of `OPTIONS["pool"]` for `Pool`; without them every thread connects by itself, as in Django."""

    @property
    def pool(self) -> Pool | None:
        """The pool of this process for this database; None where there is none."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        pools: dict[str, Any] = self._connection_pools  # type: ignore[attr-defined]
        found = pools.get(self.alias)
        if found is None:
            parameters = self.get_connection_params() | {"autocommit": True}

            def connect() -> psycopg.Connection[Any]:
                connection = psycopg.connect(**parameters)
                try:
                    self._configure_connection(connection)  # type: ignore[attr-defined]
                except BaseException:
                    connection.close()
                    raise
                return connection

            # Several threads may make one at the same moment; the first to be stored is everybody's.
            found = pools.setdefault(self.alias, Pool(connect, **options))
        return found  # type: ignore[no-any-return]
