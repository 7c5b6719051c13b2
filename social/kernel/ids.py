"""Time-ordered identifiers: 48 bits of milliseconds, then 16 bits that reveal no counts.

Source: contract, behaviours section 1; the SQL function `timestamp_id` is created by this app's first migration.
"""

import re
import secrets
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: The largest bigint.
MAX_ID: Final = 2**63 - 1
# Number of digits that are read: one more than the longest id has, so that a longer number is recognised.
_DIGITS = re.compile(r"[0-9]{1,20}")


class SnowflakeField(models.BigAutoField):
    """A primary key that PostgreSQL fills with `timestamp_id('<table>')`.

    The column type includes the DEFAULT and omits Django's identity suffix, because PostgreSQL refuses a column with both.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return f"bigint DEFAULT timestamp_id('{self.model._meta.db_table}')"

    def db_type_suffix(self, connection: BaseDatabaseWrapper) -> str | None:
        return None

    def rel_db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "bigint"

    cast_db_type = rel_db_type

    def get_placeholder(self, value: Any, compiler: Any, connection: BaseDatabaseWrapper) -> str:
        # Overridden so that Django inserts several rows with given ids as VALUES. Otherwise Django would cast an array to the
        # column type, in which DEFAULT is a syntax error.
        return "%s"


def snowflake_at(moment: datetime) -> int:
    """Return an id for something that happened at `moment` (a remote or imported post), with random low bits. The caller
    retries if the id is taken, because equal ids may be made for the same millisecond.
    """
    milliseconds = max(0, (moment - _EPOCH) // timedelta(milliseconds=1))
    return min(milliseconds << 16 | secrets.randbits(16), MAX_ID)


def first_at(moment: datetime) -> int:
    """Return the smallest id of `moment`, for selecting all ids since then."""
    return max(0, (moment - _EPOCH) // timedelta(milliseconds=1)) << 16


def moment_of(snowflake: int) -> datetime:
    """Return the time that an id encodes, to the millisecond."""
    return _EPOCH + timedelta(milliseconds=snowflake >> 16)


def parse_id(raw: Any) -> int | None:
    """Parse an id sent by a client, using only its leading digits.

    Returns None if the value cannot be an id; callers then answer with 404 (contract, parameters section 0).
    """
    if isinstance(raw, bool):
        return None
    if isinstance(raw, int):
        return raw if 0 <= raw <= MAX_ID else None
    if not isinstance(raw, str):
        return None
    if len(raw) < 19 and raw.isascii() and raw.isdigit():
        return int(raw)
    digits = _DIGITS.match(raw)
    if digits is None or digits.end() > 19:
        return None
    number = int(digits[0])
    return number if number <= MAX_ID else None
