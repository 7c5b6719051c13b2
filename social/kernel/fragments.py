"""Knows encoded pieces of answers, kept for ten minutes in Redis so that they need not be made again.

Those asked for lately are at hand in the process too; only their generations are asked for each time.

A piece is found by a key that names its version, so it is never changed, only no longer asked for. What it shows of
things without a version of their own (custom emojis) is covered by a *generation*: a stamp that is stored inside the
piece and renewed by whoever changes such a thing. A piece of another generation counts as absent. Everything here may
vanish at any time, and nothing here raises when Redis does not answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, cast

from social.kernel import redis

SECONDS: Final = 600
#: How much of what was asked for lately stays at hand in a process: two lots of so many bytes, for so long each.
NEARBY_BYTES: Final = 4 * 2**20
NEARBY_SECONDS: Final = 60.0
# Raised when the shape of what is stored changes: pieces of an older release are then never read.
FORMAT: Final = "1"


class Wanted(NamedTuple):
    """A piece: its key, which names kind, id and version (`status:12:3`), and the generation it depends on."""

    key: str
    generation: str


@dataclass(slots=True)
class Found:
    """The pieces that were there, by key, and the generations as they stood *before* the missing ones are made."""

    pieces: dict[str, bytes] = field(default_factory=dict)
    stamps: dict[str, bytes] = field(default_factory=dict)


def _piece_key(key: str) -> str:
    return redis.key("cache", "fragment", FORMAT, key)


def _stamp_key(generation: str) -> str:
    return redis.key("cache", "generation", generation)


class _Nearby:
    """Pieces with their stamps, at hand. Two lots: when the younger is full or too old it becomes the elder.

    Without a lock: what two threads do at once costs at most a piece that must be fetched again.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin again with nothing."""
        self._young: dict[str, tuple[bytes, bytes]] = {}
        self._old: dict[str, tuple[bytes, bytes]] = {}
        self._bytes, self._since = 0, time.monotonic()

    def find(self, keys: Iterable[str]) -> dict[str, tuple[bytes, bytes]]:
        """What there is under these keys."""
        if self._bytes > NEARBY_BYTES or time.monotonic() - self._since > NEARBY_SECONDS:
            self._old, self._young = self._young, {}
            self._bytes, self._since = 0, time.monotonic()
        young, old = self._young, self._old
        return {key: kept for key in keys if (kept := young.get(key) or old.get(key)) is not None}

    def put(self, key: str, stamp: bytes, piece: bytes) -> None:
        """Have a piece at hand from now on."""
        self._young[key] = (stamp, piece)
        self._bytes += len(piece)


nearby: Final = _Nearby()


def load(wanted: Iterable[Wanted]) -> Found:
    """Look for pieces, in one round trip."""
    asked = list(dict.fromkeys(wanted))
    found = Found()
    if not asked:
        return found
    kept = nearby.find(item.key for item in asked)
    missing = [item.key for item in asked if item.key not in kept]
    generations = list(dict.fromkeys(item.generation for item in asked))
    names = [_stamp_key(name) for name in generations] + [_piece_key(key) for key in missing]
    values: Sequence[bytes | None] = ()
    with redis.best_effort("read cached answers") as attempt:
        values = cast("list[bytes | None]", redis.client("cache").mget(names))
    if attempt.failed:
        # Whether what is at hand still holds cannot be asked.
        found.stamps = dict.fromkeys(generations, b"")
        return found
    found.stamps = {name: value or b"" for name, value in zip(generations, values, strict=False)}
    for key, value in zip(missing, values[len(generations) :], strict=True):
        if value is not None:
            stamp, _line_end, piece = value.partition(b"\n")
            kept[key] = stamp, piece
            nearby.put(key, stamp, piece)
    for key, generation in asked:
        if key in kept and kept[key][0] == found.stamps[generation]:
            found.pieces[key] = kept[key][1]
    return found


def save(pieces: Mapping[Wanted, bytes], stamps: Mapping[str, bytes]) -> None:
    """Keep pieces that were made after `stamps` were read (`Found.stamps`), in one round trip."""
    if not pieces:
        return
    with redis.best_effort("keep answers in the cache"):
        pipeline = redis.client("cache").pipeline(transaction=False)
        for item, piece in pieces.items():
            stamp = stamps.get(item.generation, b"")
            nearby.put(item.key, stamp, piece)
            pipeline.set(_piece_key(item.key), stamp + b"\n" + piece, ex=SECONDS)
        pipeline.execute()


def renew(generation: str) -> None:
    """Make every piece of a generation absent. Called after the commit of what changed.

    When Redis cannot be told, such pieces live for what is left of their ten minutes, and two more where they are at hand.
    """
    with redis.best_effort("renew cached answers"):
        # A clock, not a count: a counter that is lost would start again at a number that pieces still carry.
        redis.client("cache").set(_stamp_key(generation), b"%d" % time.time_ns())
