"""Draining of one outbox queue: rows are claimed, run in order and deleted, by any number of processes at the same time.

Only the oldest unfinished row of a key can be claimed, together with the rows directly behind it (`social.kernel.claims`). Two
processes never run rows of one key at the same time, and a row that backs off or is dead blocks only its own key.
"""

import contextlib
import logging
import random
import time
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import transaction

from social.kernel.batches import in_batches
from social.kernel.claims import Claims, Failure, new_token
from social.kernel.logs import redact
from social.kernel.renewals import Renewals
from social.kernel.statements import rows_of
from social.kernel.subscriptions import Subscription, registry

logger = logging.getLogger("social.outbox")

#: Seconds for which a claim lasts, unless it is renewed. Rows of a process that was killed, or lost its connection to the
#: database, are claimed again in under half a minute: after this time and the next sweep.
LEASE: Final = 20.0
MAX_ATTEMPTS: Final = 12
MAX_BACK_OFF: Final = 3600.0
_ERROR_LENGTH: Final = 2000

_CLAIM: Final = """
SELECT * FROM social_outbox_claim(%(queue)s, %(limit)s::integer, %(token)s, make_interval(secs => %(lease)s::float8))
"""
_claims: Final = Claims("social_outbox")
_SUCCESSOR_CHECK: Final = """
SELECT EXISTS (SELECT FROM social_outbox WHERE queue = %(queue)s AND key = ANY(%(keys)s) AND claimed_until IS NULL
               AND due_at <= now() AND dead_at IS NULL)
"""
_renewals: Final = Renewals()


class LeaseLost(Exception):
    """Error: the lease of a batch has expired, so another process may have claimed its rows. The remaining rows are
    released.
    """


def back_off(attempts: int) -> float:
    """Return the seconds until the retry after `attempts` failures: 2, 4, 8 ... up to an hour, randomly varied by up to a
    quarter.
    """
    return float(min(2.0**attempts, MAX_BACK_OFF) * random.uniform(0.75, 1.25))  # noqa: S311  (spreads load, guards nothing)


def describe_error(error: BaseException) -> str:
    """Return a description of an exception for operators: its type, message and innermost frame, without secrets."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f"\nat {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return redact(f"{type(error).__name__}: {error}".replace("\x00", ""))[: _ERROR_LENGTH - len(where)] + where


@dataclass(frozen=True, slots=True)
class Row:
    """Claimed row. `abandoned`: the process that last claimed it never finished it, maybe because running the row kills the
    process.
    """

    id: int
    key: str
    subscriber: str
    event: str
    payload: str
    attempts: int
    abandoned: bool

    @property
    def ordering_key(self) -> str | int:
        """The key whose rows run in order; for a row without a key it is the id, so that the row waits for no other."""
        return self.key or self.id


@dataclass
class Batch:
    """Rows of one claim; rows that are done or have failed are removed from it."""

    queue: str
    token: int
    lease: float
    rows: dict[int, Row]
    expires: float
    blocked: set[str | int] = field(default_factory=set)
    keys: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.keys = frozenset(row.key for row in self.rows.values() if row.key)

    @classmethod
    def claim(cls, queue: str, limit: int, lease: float) -> "Batch":
        """Claim up to `limit` due rows for `lease` seconds, and commit the claim. Raises RuntimeError inside a transaction."""
        token = new_token()
        expires = time.monotonic() + lease
        values = {"queue": queue, "limit": limit, "lease": str(lease)}
        rows = sorted((Row(*found) for found in _claims.take(_CLAIM, token, values)), key=lambda row: row.id)
        return cls(queue, token, lease, {row.id: row for row in rows}, expires)

    def run(self) -> None:
        """Run all rows. Failures are recorded in the rows; raises only errors that make recording impossible."""
        try:
            for group in self._groups():
                if len(group) == 1 and group[0].abandoned:
                    self._run_abandoned(group[0])
                else:
                    self._run_group(group)
        except LeaseLost:
            logger.warning("Outbox queue %s: a claim ran out before its rows were done", self.queue)
            self._release(list(self.rows))
        except BaseException:
            # The process is stopping, or the database is gone. If it is gone, the rows are released when the lease expires.
            with contextlib.suppress(Exception):
                self._release(list(self.rows))
            raise

    def is_followed(self) -> bool:
        """Tell whether further rows were published for a key of this batch while the batch held the key. Other drains that were
        woken for these rows could not claim them. Call it after `run`, outside its transactions.
        """
        keys = [key for key in self.keys if key not in self.blocked]
        if not keys:
            return False
        ((followed,),) = rows_of(_SUCCESSOR_CHECK, {"queue": self.queue, "keys": keys})
        return bool(followed)

    def _groups(self) -> Iterator[list[Row]]:
        """Yield the rows in groups with one subscription each. The rows of every key stay in order.

        Abandoned rows come last, each in a separate group, with the fewest attempts first, so that a row that keeps killing its
        process comes after all others.
        """
        waiting: dict[str | int, deque[Row]] = {}
        for row in self.rows.values():
            waiting.setdefault(row.ordering_key, deque()).append(row)
        while waiting:
            first = min(
                (rows[0] for rows in waiting.values()),
                key=lambda row: (row.abandoned, row.abandoned and row.attempts, row.id),
            )
            group: list[Row] = []
            for key in [first.ordering_key] if first.abandoned else list(waiting):
                rows = waiting[key]
                while rows and (rows[0].subscriber, rows[0].event, rows[0].abandoned) == (
                    first.subscriber,
                    first.event,
                    first.abandoned,
                ):
                    group.append(rows.popleft())
                    if first.abandoned:
                        break
                if not rows:
                    del waiting[key]
            yield sorted(group, key=lambda row: row.id)
            for key in self.blocked & waiting.keys():
                self._release([row.id for row in waiting.pop(key)])

    def _run_group(self, group: list[Row]) -> None:
        subscription = registry.named(group[0].event, group[0].subscriber)
        size = (subscription.batch if subscription else None) or len(group)
        for rows in in_batches(group, size):
            open_rows = [row for row in rows if row.ordering_key not in self.blocked]
            if len(open_rows) > 1 and self._attempt(subscription, open_rows) is None:
                continue
            for row in open_rows:
                if row.ordering_key in self.blocked:
                    continue
                error = self._attempt(subscription, [row])
                if error is not None:
                    self._fail(row, row.attempts + 1, error)
        self._release([row.id for row in group if row.id in self.rows])

    def _run_abandoned(self, row: Row) -> None:
        """Run an abandoned row.

        The attempt is counted beforehand, so that even a row that kills the process is eventually given up.
        """
        attempts = row.attempts + 1
        if attempts > MAX_ATTEMPTS:
            self._fail(row, MAX_ATTEMPTS, RuntimeError("The process ended each time this row ran."))
            return
        error = "The process ended, or took longer than it may, while this row was in its hands."
        begun = Failure(row.id, attempts, back_off(attempts), error, held=True)
        if _claims.fail(self.token, [begun]) != 1:
            raise LeaseLost
        failure = self._attempt(registry.named(row.event, row.subscriber), [row])
        if failure is not None:
            self._fail(row, attempts, failure)

    def _attempt(self, subscription: Subscription[Any] | None, rows: Sequence[Row]) -> Exception | None:
        """Call the reaction once and delete the rows; return the exception if it failed."""
        ids = [row.id for row in rows]
        try:
            if subscription is None:
                return LookupError(f"This release has no subscriber {rows[0].subscriber} to {rows[0].event}.")
            self._renew_for(subscription)
            events = [subscription.event.decoded(row.payload) for row in rows]
            if subscription.database:
                with transaction.atomic():
                    # The rows are deleted first, which locks them, so that no other process can run them until this transaction
                    # ends.
                    if _claims.finish(self.token, ids) != len(ids):
                        raise LeaseLost
                    subscription.reaction(events)
            else:
                self._call(subscription, events)
                _claims.finish_quickly(self.token, ids)
        except LeaseLost:
            raise
        except Exception as error:
            logger.warning(
                "Outbox: %s failed for %d events of %s: %s",
                rows[0].subscriber,
                len(rows),
                rows[0].event,
                describe_error(error),
            )
            return error
        for row_id in ids:
            del self.rows[row_id]
        return None

    def _renew_for(self, subscription: Subscription[Any]) -> None:
        """Renew the lease if little of it is left at the beginning of a call.

        Raises LeaseLost when the lease has expired already. While a database reaction runs, it holds row locks on its rows;
        during any other reaction the lease is renewed.
        """
        if self.expires - time.monotonic() < self.lease / (4 if subscription.database else 2) and not self._renew():
            raise LeaseLost

    def _renew(self) -> bool:
        expires = time.monotonic() + self.lease
        if _claims.renew(self.token, list(self.rows), self.lease) != len(self.rows):
            return False
        self.expires = expires
        return True

    def _call(self, subscription: Subscription[Any], events: Sequence[Any]) -> None:
        if subscription.seconds <= self.lease / 2:
            subscription.reaction(events)
            return
        with _renewals.during(self._renew, every=self.lease / 4, at_most=subscription.seconds):
            subscription.reaction(events)

    def _release(self, ids: list[int]) -> None:
        if ids:
            _claims.release(self.token, ids)
            for row_id in ids:
                del self.rows[row_id]

    def _fail(self, row: Row, attempts: int, error: Exception) -> None:
        self.blocked.add(row.ordering_key)
        dead = attempts >= MAX_ATTEMPTS
        text = describe_error(error)
        _claims.fail(self.token, [Failure(row.id, attempts, back_off(attempts), text, dead=dead)])
        del self.rows[row.id]
        if dead:
            logger.error(
                "Outbox row %d is dead after %d attempts and blocks its key: queue %s, key %r, %s for %s. %s",
                *(row.id, attempts, self.queue, row.key, row.event, row.subscriber, text),
            )


def drain(queue: str, limit: int = 200, *, lease: float = LEASE) -> int:
    """Claim up to `limit` due rows of `queue`, run their reactions and delete them; return how many were claimed.

    Zero means that no row was due, except rows that other processes hold. Rows of one key run in the order in which they were
    published. After a small claim, rows that were published for the same keys in the meantime are run too, because no other
    process could claim them. When a call with several events fails, each event is tried alone. An event that fails alone backs
    off (`back_off`) and blocks its key; after MAX_ATTEMPTS it is dead and logged as an error. Raises RuntimeError inside a
    transaction, except that of a test case, and database errors when the database is gone: the claim then expires by itself.
    """
    total = 0
    while total < limit:
        batch = Batch.claim(queue, limit - total, lease)
        claimed = len(batch.rows)
        total += claimed
        batch.run()
        # After a larger claim the caller drains again in any case, so rows published in the meantime need no check here.
        if not claimed or total * total >= limit or not batch.is_followed():
            break
    return total
