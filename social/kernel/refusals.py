"""Counts the content that this server has refused, by reason and sender, so that operators soon see what is lost.

Source: DESIGN section 4, "What others send is taken unless a rule says no".
"""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from threading import Lock
from time import monotonic
from typing import Final

from django.db import DatabaseError, connections, models
from django.db.models import Sum

from social.kernel import clock
from social.kernel.lengths import HOST_LIMIT, NAME_LIMIT, lengths
from social.kernel.reasons import Reason
from social.kernel.statements import Value, rows_of

logger = logging.getLogger("social.refusals")

KEPT_DAYS: Final = 30
NOTED_SECONDS: Final = 5.0
"""Seconds for which a web process collects counts, so that a flood of requests does not cause a write for each request."""
NOTED_LIMIT: Final = 500
"""Maximum number of collected pairs of sender and reason; refusals of further pairs are counted for the sender ""."""
LOGGED_EACH: Final = 100
"""Number of refusals that share one log line, for one sender, reason and day; the first refusal is always logged."""

_INSERTION: Final = """
INSERT INTO social_refusal (sender, reason, day, number)
SELECT %(sender)s, reason, %(day)s::date, number
  FROM unnest(%(reasons)s::text[], %(numbers)s::bigint[]) AS refused (reason, number) ORDER BY reason
ON CONFLICT (sender, reason, day) DO UPDATE SET number = social_refusal.number + EXCLUDED.number
RETURNING reason, number
"""


class Refusal(models.Model):
    """Number of objects from one sender that were refused or left out for one reason on one day (UTC). `sender` is a host, and
    empty if the host is unknown; `reason` is the key of a Reason.
    """

    sender = models.TextField(blank=True)
    reason = models.TextField()
    day = models.DateField()
    number = models.PositiveBigIntegerField(default=0)

    class Meta:
        db_table = "social_refusal"
        constraints = [
            lengths("social_refusal_lengths", sender=HOST_LIMIT, reason=NAME_LIMIT),
            models.UniqueConstraint(fields=["sender", "reason", "day"], name="social_refusal_once"),
        ]
        indexes = [models.Index(fields=["day", "reason"], name="social_refusal_day")]

    def __str__(self) -> str:
        return f"{self.sender}: {self.reason}"


def count_refusals(sender: str, counts: Mapping[Reason, int]) -> None:
    """Count refusals of a sender (a host, or "" for an unknown one), in one statement; do nothing if there are no `counts`.
    For each sender, reason and day, the first refusal is logged, and then one line for every LOGGED_EACH refusals.
    """
    if not counts:
        return
    by_key = {reason.key: (reason, number) for reason, number in counts.items()}
    keys = sorted(by_key)
    values: dict[str, Value] = {
        "sender": sender.replace("\0", "")[:HOST_LIMIT],
        "day": clock.now().date().isoformat(),
        "reasons": keys,
        "numbers": [by_key[key][1] for key in keys],
    }
    for key, number in rows_of(_INSERTION, values):
        reason, added = by_key[key]
        if number == added or number // LOGGED_EACH != (number - added) // LOGGED_EACH:
            logger.warning("%s: %d today not taken, %s", sender or "unknown senders", number, reason)


_noted: Counter[tuple[str, Reason]] = Counter()
_noted_lock = Lock()
_noted_since = 0.0


def note_refusal(sender: str, reason: Reason) -> None:
    """Count one refusal, in a web process; counts are written together every NOTED_SECONDS."""
    global _noted_since
    with _noted_lock:
        if not _noted:
            _noted_since = monotonic()
        known = (sender, reason) in _noted or len(_noted) < NOTED_LIMIT
        _noted[(sender if known else "", reason)] += 1
        if monotonic() - _noted_since < NOTED_SECONDS:
            return
    write_noted()


def write_noted() -> None:
    """Write the counts of `note_refusal` in this process."""
    with _noted_lock:
        counts = dict(_noted)
        _noted.clear()
    by_sender: dict[str, dict[Reason, int]] = {}
    for (sender, reason), number in counts.items():
        by_sender.setdefault(sender, {})[reason] = number
    for sender in sorted(by_sender):
        count_refusals(sender, by_sender[sender])


def write_last_counts() -> None:
    """Write the counts of this process before it ends, and close its connections."""
    try:
        write_noted()
    except DatabaseError as error:
        logger.warning("counts of refusals are lost: %s", error)
    finally:
        connections.close_all()


def load_refusals(senders: Iterable[str]) -> list[tuple[str, str, int]]:
    """Load sender, key of the reason and number of refusals, summed over all stored days, the most frequent first."""
    rows = Refusal.objects.filter(sender__one_of=list(senders)).values_list("sender", "reason")
    return list(rows.annotate(total=Sum("number")).order_by("-total", "reason"))


def load_today() -> list[tuple[str, int]]:
    """Load the number of today's refusals for each reason."""
    rows = Refusal.objects.filter(day=clock.now().date()).values_list("reason")
    return list(rows.annotate(total=Sum("number")).order_by("reason"))


def forget_refusals() -> int:
    """Remove counts older than KEPT_DAYS; return how many."""
    removed, _rows = Refusal.objects.filter(day__lt=clock.now().date() - timedelta(days=KEPT_DAYS)).delete()
    return removed
