"""Circuit breaker: after a failure, calls to a server are skipped for a while, so that only one call waits for the time-out."""

import time


class Circuit:
    """Circuit breaker of one process: while it is open, for `seconds` after a failure, calls are skipped. The circuit breaker
    has no lock, because a lost update costs only one more attempt.
    """

    def __init__(self, seconds: float = 1.0) -> None:
        self.seconds = seconds
        self._open_until = 0.0

    @property
    def is_open(self) -> bool:
        return time.monotonic() < self._open_until

    def failed(self) -> None:
        self._open_until = time.monotonic() + self.seconds

    def close(self) -> None:
        self._open_until = 0.0
