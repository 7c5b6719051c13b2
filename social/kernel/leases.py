"""Leases by name: a row that its holder must renew before it expires."""

from __future__ import annotations

from django.db import connection, models

from social.kernel.lengths import NAME_LIMIT, lengths


class Lease(models.Model):
    """Something one process at a time may do, such as sending the schedule. Rows are written by SQL, by the clock of
    the database alone: the clocks of the holders may differ."""

    name = models.TextField(primary_key=True)
    holder = models.TextField()
    until = models.DateTimeField()

    class Meta:
        db_table = "social_lease"
        constraints = [lengths("social_lease_lengths", name=NAME_LIMIT, holder=NAME_LIMIT)]

    def __str__(self) -> str:
        return f"{self.name}: {self.holder} until {self.until:%H:%M:%S}"


_ACQUIRE = """
INSERT INTO social_lease AS l (name, holder, until)
VALUES (%(name)s, %(holder)s, clock_timestamp() + make_interval(secs => %(seconds)s))
ON CONFLICT (name) DO UPDATE SET holder = EXCLUDED.holder, until = EXCLUDED.until
WHERE l.holder = EXCLUDED.holder OR l.until <= clock_timestamp()
RETURNING TRUE
"""


def acquire(name: str, holder: str, seconds: float) -> bool:
    """Take or renew the lease for `seconds`; False while another holder's has not run out.

    The holder must renew well before the end, and stop acting when a renewal did not come through in time.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ACQUIRE, {"name": name, "holder": holder, "seconds": seconds})
        return cursor.fetchone() is not None


def release(name: str, holder: str) -> None:
    """Give the lease back before its time, if `holder` still has it."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM social_lease WHERE name = %s AND holder = %s", [name, holder])
