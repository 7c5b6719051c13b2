"""Django's database wrapper, but with connections from `pool`, and with large numbers sent as `bigint`."""

from typing import Any

import psycopg
from django.db.backends.base.base import NO_DB_ALIAS
from django.db.backends.postgresql import base
from django.db.backends.postgresql.operations import DatabaseOperations as DjangosOperations
from psycopg.types.numeric import Int8

from social.kernel.postgresql.pool import Pool

_INT4 = range(-(2**31), 2**31)


class DatabaseOperations(DjangosOperations):
    """Numbers outside the four bytes of an `integer` are sent as `bigint`.

    Django treats a number whose field is unknown as an `integer`: for example an item of a list that is compared with an
    `ArrayField`, or a `Value` without a field. psycopg would then send only the lowest four bytes of the number, and a
    comparison with ids would match wrong rows.
    """

    def adapt_integerfield_value(self, value: Any, internal_type: str) -> Any:
        if isinstance(value, int) and value not in _INT4:
            return Int8(value)
        return super().adapt_integerfield_value(value, internal_type)


class DatabaseWrapper(base.DatabaseWrapper):
    """Wrapper that takes connections from a `Pool` with the options `OPTIONS["pool"]`; without these options, it works like
    Django's.
    """

    ops_class = DatabaseOperations

    @property
    def pool(self) -> Pool | None:
        """The pool of this process for this database; None if `OPTIONS["pool"]` is absent."""
        options = self.settings_dict["OPTIONS"].get("pool")
        if self.alias == NO_DB_ALIAS or not options:
            return None
        pools: dict[str, Any] = self._connection_pools  # type: ignore[attr-defined]  # Django's own
        found = pools.get(self.alias)
        if found is None:
            parameters = self.get_connection_params() | {"autocommit": True}

            def connect() -> psycopg.Connection[Any]:
                connection = psycopg.connect(**parameters)
                try:
                    self._configure_connection(connection)  # type: ignore[attr-defined]  # Django's own
                except BaseException:
                    connection.close()
                    raise
                return connection

            # Several threads may make a pool at the same moment; all of them use the pool that is stored first.
            found = pools.setdefault(self.alias, Pool(connect, **options))
        return found  # type: ignore[no-any-return]  # a Pool
