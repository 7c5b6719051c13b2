"""Terms of each kind of work for other servers (`social.kernel.runner`): its limits, retries and pauses.

Source: contract, federation sections 12, 13 and 16; security rows 4, 10, 34, 58, 71 and 72.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

_TROUBLED: Final = 10
UNAVAILABLE_AFTER: Final = timedelta(days=7)
_LONGEST_PAUSE: Final = 24 * 3600
TURN_LENGTH: Final = timedelta(seconds=5)
TURNS_LIMIT: Final = 10


def _over_days(attempts: int) -> float:
    """Return `attempts`^4 + 15 seconds plus a random addition of up to half of that, which spreads the retries."""
    return (attempts**4 + 15) * random.uniform(1.0, 1.5)  # noqa: S311  (spreads load, guards nothing)


def _over_minutes(attempts: int) -> float:
    return 60.0 * 4.0 ** (attempts - 1)


@dataclass(frozen=True)
class Terms:
    """Terms of one kind of work: how much is done at a time, and what follows a failure.

    In one call of the runner at most `at_once` rows are under way, and at most `per_host` of one host; one claim takes up to
    `claimed` rows of a host (0 means `per_host`); `threads` calls run in a worker process. With a `pace`, all processes
    together start one row of a host every `pace` seconds, however many are due, and hosts take turns. A call claims rows for
    `slice_seconds`; one row may take `row_seconds`, and is started only if its lease lasts for that long. A row is given up
    after `attempts` attempts, with `retry_after(attempts)` seconds between them, or when it is `lifetime` old. A row that was
    given up is deleted after `kept`; until then the same task cannot be added again. A host that fails is paused for `pause`
    seconds or longer (`host_pause`). At most `waiting` rows of one host may be waiting. The rows of one asker
    (`WaitingRow.asker`) become due in turns, `per_asker` in each; at most TURNS_LIMIT turns may be waiting. The names of at
    most `lookups` hosts are looked up at the same time. `cautious`: the rows of an unknown host are done one at a time, like
    those of a failing host; when the first has succeeded, the host is stored as known. `sends`: local accounts send to these
    hosts; the hosts of other work may be named by any stranger.
    """

    purpose: str
    at_once: int
    per_host: int
    slice_seconds: float
    row_seconds: float
    lease: float
    threads: int = 2
    waiting: int = 500
    per_asker: int = 100
    lookups: int = 16
    pace: float = 0.0
    claimed: int = 0
    attempts: int = 3
    retry_after: Callable[[int], float] = _over_minutes
    lifetime: timedelta | None = None
    pause: float = 60.0
    kept: timedelta = timedelta(hours=6)
    cautious: bool = False
    sends: bool = False

    @property
    def seconds(self) -> float:
        """The longest time that one call of the runner may take."""
        return self.slice_seconds + self.row_seconds + self.lease

    def host_pause(self, failures: int, failing_since: datetime, now: datetime) -> timedelta:
        """Return the pause of a host after this many failures in a row: a few seconds at first, a minute from the tenth failure
        on, then doubling up to an hour.

        A host that has failed for a week is probed every hour; the interval then doubles each day, up to one day.
        """
        if now - failing_since > UNAVAILABLE_AFTER:
            days = (now - failing_since - UNAVAILABLE_AFTER).days
            return timedelta(seconds=min(3600 * 2 ** min(days, 10), _LONGEST_PAUSE))
        if failures < _TROUBLED:
            return timedelta(seconds=max(min(2**failures, 60), self.pause))
        return timedelta(seconds=min(60 * 2 ** min(failures - _TROUBLED, 10), 3600))


#: Terms of work that sends. They are `cautious`, because Mastodon drops one of two simultaneous first requests from an actor
#: (contract, federation section 12).
_sending: Final = partial(Terms, retry_after=_over_days, pause=2.0, cautious=True, sends=True)
#: Terms, keyed by the name of their queue, which is in the lane "network" (`social.queues`).
TERMS: Final[dict[str, Terms]] = {
    "deliveries": _sending(
        "activities on their way to other servers",
        at_once=200,
        per_host=2,
        claimed=20,
        lookups=200,
        slice_seconds=5.0,
        row_seconds=20.0,
        lease=30.0,
        attempts=16,
        kept=timedelta(days=7),
    ),
    "fetches": Terms(
        "documents of other servers",
        at_once=100,
        per_host=2,
        slice_seconds=30.0,
        row_seconds=20.0,
        lease=90.0,
        lookups=64,
    ),
    # Separate from other fetches, because a long thread must not delay fetches for activities that were sent to this server.
    # Two threads, because a person is waiting for the result, and a call that waits for its last answers claims no rows (for up
    # to ten seconds if a server is silent).
    "threads": Terms(
        "answers to posts from other servers that somebody reads",
        at_once=50,
        per_host=2,
        slice_seconds=20.0,
        row_seconds=20.0,
        lease=60.0,
        attempts=2,
        lifetime=timedelta(hours=1),
        kept=timedelta(minutes=15),
    ),
    # The only thread sleeps between the turns of a host. The lifetime leaves time for waiting rows after an outage.
    "lookups": Terms(
        "people of other servers whom lists and pages name",
        at_once=100,
        per_host=1,
        pace=1.0,
        per_asker=40,
        lookups=64,
        slice_seconds=30.0,
        row_seconds=20.0,
        lease=90.0,
        threads=1,
        lifetime=timedelta(days=1),
    ),
    # Pictures are held in memory until they are redrawn: at most `at_once` times 8 MB.
    "cards": Terms(
        "previews of pages that posts link to",
        at_once=8,
        per_host=1,
        slice_seconds=20.0,
        row_seconds=25.0,
        lease=120.0,
        threads=1,
        waiting=200,
    ),
    # Files are on the disk until they are examined, at most `at_once` times 99 MB.
    "copies": Terms(
        "files from other servers that somebody wants to see",
        at_once=6,
        per_host=2,
        slice_seconds=20.0,
        row_seconds=120.0,
        lease=180.0,
        kept=timedelta(hours=1),
    ),
    # A call waits for its last answers after it has stopped claiming; with two threads, a second call can claim in the
    # meantime.
    "pushes": _sending(
        "notifications on their way to devices",
        at_once=200,
        per_host=16,
        claimed=64,
        lookups=64,
        slice_seconds=10.0,
        row_seconds=12.0,
        lease=30.0,
        attempts=6,
        lifetime=timedelta(hours=48),
        kept=timedelta(hours=1),
    ),
    # With two threads, new events are sent to webhooks while another call of the runner waits for slow hosts.
    "webhooks": _sending(
        "events on their way to webhooks",
        at_once=50,
        per_host=4,
        claimed=16,
        slice_seconds=10.0,
        row_seconds=12.0,
        lease=30.0,
        attempts=10,
        lifetime=timedelta(days=2),
        kept=timedelta(hours=1),
    ),
    # The lease is long enough to store the longest list, because a list is stored by the thread that runs its row. A list that
    # was given up is not fetched before the next regular time.
    "blocklists": Terms(
        "blocklists of others",
        at_once=4,
        per_host=1,
        slice_seconds=20.0,
        row_seconds=50.0,
        lease=180.0,
        threads=1,
        attempts=5,
        kept=timedelta(hours=5),
    ),
    # All rows are for one host, the mail server. A row is one mail, which takes several steps of at most ten seconds each.
    "mails": Terms(
        "mails about notifications",
        at_once=8,
        per_host=8,
        slice_seconds=10.0,
        row_seconds=60.0,
        lease=75.0,
        threads=1,
        attempts=6,
        lifetime=timedelta(days=3),
        pause=30.0,
        kept=timedelta(hours=1),
        sends=True,
    ),
}
