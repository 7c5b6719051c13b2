"""Knows encoded pieces of answers, kept for ten minutes in Redis so that they need not be made again.

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


def load(wanted: Iterable[Wanted]) -> Found:
    """Look for pieces, in one round trip."""
    asked = list(dict.fromkeys(wanted))
    found = Found()
    if not asked:
        return found
    generations = list(dict.fromkeys(item.generation for item in asked))
    names = [_stamp_key(name) for name in generations] + [_piece_key(item.key) for item in asked]
    values: Sequence[bytes | None] = [None] * len(names)
    with redis.best_effort("read cached answers"):
        values = cast("list[bytes | None]", redis.client("cache").mget(names))
    found.stamps = {name: value or b"" for name, value in zip(generations, values, strict=False)}
    for item, value in zip(asked, values[len(generations) :], strict=True):
        if value is not None:
            stamp, _line_end, piece = value.partition(b"\n")
            if stamp == found.stamps[item.generation]:
                found.pieces[item.key] = piece
    return found


def save(pieces: Mapping[Wanted, bytes], stamps: Mapping[str, bytes]) -> None:
    """Keep pieces that were made after `stamps` were read (`Found.stamps`), in one round trip."""
    if not pieces:
        return
    with redis.best_effort("keep answers in the cache"):
        pipeline = redis.client("cache").pipeline(transaction=False)
        for item, piece in pieces.items():
            pipeline.set(_piece_key(item.key), stamps.get(item.generation, b"") + b"\n" + piece, ex=SECONDS)
        pipeline.execute()


def renew(generation: str) -> None:
    """Make every piece of a generation absent. Called after the commit of what changed.

    When Redis cannot be told, such pieces live for what is left of their ten minutes.
    """
    with redis.best_effort("renew cached answers"):
        # A clock, not a count: a counter that is lost would start again at a number that pieces still carry.
        redis.client("cache").set(_stamp_key(generation), b"%d" % time.time_ns())
