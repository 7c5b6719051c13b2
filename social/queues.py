"""The queues of background work and the lanes they belong to (DESIGN "Lanes")."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from social.kernel.ports import Port
from social.kernel.terms import TERMS

#: The purposes of the lanes. A worker process serves all lanes, or only the lanes that WORKER_LANES names.
LANES: Final[dict[str, str]] = {
    "local": "what people here wait for: it uses the database and Redis only",
    "ingress": "activities received from other servers: they use the database only",
    "network": "whatever waits for other machines",
    "media": "what keeps a processor busy",
}


@dataclass(frozen=True)
class QueueTerms:
    """Purpose of a queue, its lane, and its threads in a worker process.

    The threads are reserved for the queue: work of other queues never occupies them. `batch` is the number of outbox rows that
    one claim takes: small if each row takes a long time, so that other workers also get rows and a killed worker delays only a
    few.
    """

    purpose: str
    lane: str = "local"
    threads: int = 2
    batch: int = 200


#: Outbox and Celery queues have the same names; Celery has one more queue per lane for its wake-ups.
QUEUES: Final[dict[str, QueueTerms]] = {
    "default": QueueTerms("reactions inside this server: erasure, counters"),
    "feeds": QueueTerms("fan-out to home timelines, lists and streams", threads=3),
    "notifications": QueueTerms("notifications"),
    "search": QueueTerms("what full-text search finds", threads=1),
    "scheduler": QueueTerms("scheduled tasks"),
    "ingress": QueueTerms("activities received from other servers", lane="ingress", batch=50),
    **{
        name: QueueTerms(terms.purpose, lane="network", threads=terms.threads, batch=20)
        for name, terms in TERMS.items()
    },
    "links": QueueTerms("pages that profiles link to", lane="network", threads=1, batch=5),
    "mailers": QueueTerms("mail", lane="network", threads=1, batch=20),
    "transfers": QueueTerms(
        "lists that people bring along, archives that they take away", lane="media", threads=1, batch=1
    ),
    "past": QueueTerms("old posts that people bring along", lane="media", threads=1, batch=1),
    "media": QueueTerms("conversion of uploads", lane="media", threads=2, batch=1),
}


#: The Celery queue of each lane's wake-up messages.
WAKE_QUEUES: Final[dict[str, str]] = {lane: f"wake-{lane}" for lane in LANES}
#: Runs a function on a thread of the named queue in the pool of this worker process; None in other processes.
threads_of: Final[Port[Callable[[str, Callable[[], None]], None]]] = Port("social.queues.threads_of")


def queues_of(lanes: Collection[str]) -> dict[str, QueueTerms]:
    """Return the queues of the given lanes, in the order of QUEUES."""
    return {name: terms for name, terms in QUEUES.items() if terms.lane in lanes}
