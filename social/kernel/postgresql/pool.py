"""Pool of connections to PostgreSQL, which detects closed connections and does not wait for a database that is down.

A restart of PostgreSQL closes every connection. Closed connections in the pool are detected when they are taken out, without a
round trip, because an idle connection on which there is something to read has been closed.
"""

import logging
import select
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakKeyDictionary

import psycopg
from psycopg.pq import ConnStatus, TransactionStatus

from social.kernel.circuits import Circuit

logger = logging.getLogger(__name__)
Connection = psycopg.Connection[Any]

#: Seconds within which a connection must be made; after that the database counts as unavailable.
CONNECT_SECONDS: Final = 0.8
#: Seconds after which a connection is replaced, because its caches grow and the server's address may change.
LIFETIME: Final = 3600.0
#: Number of connections that are opened without waiting; before opening another, a thread waits GROWTH_DELAY. A connection
#: costs PostgreSQL 10 MiB of caches and plans, and more than two threads of a process rarely need one at the same time.
INITIAL_SIZE: Final = 3
#: Seconds to wait for a connection that is in use before another is made.
GROWTH_DELAY: Final = 0.1
#: Seconds after which a connection that has not been needed is closed.
IDLE_SECONDS: Final = 60.0


class Pool:
    """Connections of one process, at most `max_size`, made by `connect` when none is free.

    The connection that was returned last is handed out first, so that as few connections as possible are used and their cached
    plans are reused. Beyond INITIAL_SIZE, another connection is made when a thread has waited GROWTH_DELAY, and closed when it
    has not been needed for IDLE_SECONDS. After a failure to connect, the circuit breaker (`circuit`) is open for a second, so
    that no thread waits for a connection. `timeout` is the number of seconds that a thread waits when all `max_size`
    connections are in use.
    """

    def __init__(self, connect: Callable[[], Connection], *, max_size: int, timeout: float) -> None:
        self.max_size = max_size
        self.timeout = timeout
        self.circuit = Circuit(1.0)
        self._connect = connect
        self._idle: deque[tuple[Connection, float]] = deque()  # with the times of their return
        self._ends: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._size = 0  # number of connections that are in use, idle or being made
        self._free = threading.Condition()
        self._closed = False

    def open(self) -> None:
        """Open the pool, for the first time or after `close`, without making a connection."""
        self._closed = False

    def getconn(self) -> Connection:
        """Return a live connection, in autocommit mode, which `putconn` takes back.

        Raises OperationalError immediately while the circuit breaker is open, after CONNECT_SECONDS when the database does not
        answer, and after `timeout` when all connections are in use.
        """
        began = 0.0
        while True:
            with self._free:
                connection = self._idle.pop()[0] if self._idle else None
                if connection is None and self._size >= min(INITIAL_SIZE, self.max_size):
                    now = time.monotonic()
                    began = began or now
                    full = self._size >= self.max_size
                    left = began + (self.timeout if full else GROWTH_DELAY) - now
                    if left > 0:
                        self._free.wait(left)
                        continue
                    if full:
                        raise psycopg.OperationalError(
                            f"All {self.max_size} connections to the database have been in use for {self.timeout:g} s."
                        )
                if connection is None:
                    if self.circuit.is_open:
                        raise psycopg.OperationalError("The database failed less than a second ago: not asked.")
                    self._size += 1
            if connection is None:
                connection = self._make()
            elif not _is_alive(connection):
                self._discard(connection)
                continue
            connection._pool = self  # Django closes a connection by returning it to the pool in this attribute
            return connection

    def putconn(self, connection: Connection) -> None:
        """Take a connection back: an open transaction is rolled back, a broken or old connection closed."""
        connection._pool = None
        if connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            try:
                connection.rollback()
            except psycopg.Error:
                connection.close()
        if (
            self._closed
            or time.monotonic() > self._ends.get(connection, 0.0)
            or connection.info.transaction_status != TransactionStatus.IDLE
        ):
            self._discard(connection)
            return
        now = time.monotonic()
        with self._free:
            unneeded = self._idle.popleft()[0] if self._idle and now - self._idle[0][1] > IDLE_SECONDS else None
            self._idle.append((connection, now))
            self._free.notify()
        if unneeded is not None:
            self._discard(unneeded)

    def close(self) -> None:
        """Close the idle connections now, and the connections in use when they are returned."""
        self._closed = True
        with self._free:
            idle, self._idle = list(self._idle), deque()
        for connection, _since in idle:
            self._discard(connection)

    def _make(self) -> Connection:
        """Make a connection, which the caller has counted in `_size` already; wait no longer than CONNECT_SECONDS for it."""
        attempt = _Attempt(self)
        threading.Thread(target=attempt.run, name="connect", daemon=True).start()
        return attempt.wait()

    def _adopt(self, connection: Connection) -> None:
        self._ends[connection] = time.monotonic() + LIFETIME
        self.circuit.close()

    def _discard(self, connection: Connection) -> None:
        connection.close()
        self._forgo()

    def _forgo(self) -> None:
        with self._free:
            self._size -= 1
            self._free.notify()


class _Attempt:
    """Attempt to connect, in a separate thread, because libpq waits at least two seconds for a silent server."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._done = threading.Condition()
        self._connection: Connection | None = None
        self._error: BaseException | None = None
        self._abandoned = False

    def run(self) -> None:
        try:
            connection = self.pool._connect()
        except BaseException as error:
            self.pool.circuit.failed()
            self.pool._forgo()
            with self._done:
                self._error = error
                self._done.notify()
            return
        self.pool._adopt(connection)
        with self._done:
            if not self._abandoned:
                self._connection = connection
                self._done.notify()
                return
        # The caller no longer waits for the connection, which therefore goes into the pool.
        self.pool.putconn(connection)

    def wait(self) -> Connection:
        with self._done:
            self._done.wait_for(lambda: self._connection or self._error, CONNECT_SECONDS)
            if self._connection is not None:
                return self._connection
            if self._error is not None:
                raise self._error
            self._abandoned = True
        self.pool.circuit.failed()
        raise psycopg.OperationalError(f"The database did not take a connection within {CONNECT_SECONDS:g} s.")


def _is_alive(connection: Connection) -> bool:
    """Tell whether an idle connection can be used: either there is nothing to read, or reading raises no error."""
    pgconn = connection.pgconn
    if pgconn.status != ConnStatus.OK:
        return False
    poll = select.poll()
    poll.register(pgconn.socket, select.POLLIN)
    if not poll.poll(0):
        return True
    try:
        # A changed setting or a notice is something to read too, but no reason to close the connection.
        pgconn.consume_input()
    except psycopg.Error:
        return False
    return pgconn.status == ConnStatus.OK and not poll.poll(0)
