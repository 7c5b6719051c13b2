"""Keys that are not fetched again for a while after a failure, so that bad requests do not cause requests of ours.

Source: contract, federation section 10 "Circuit" (5 minutes for an address after a key could not be fetched). Kept in
Redis, where everything ends by itself after that time; without Redis there are no pauses.
"""

from __future__ import annotations

import hashlib
import ipaddress
from typing import Final, cast

from django.conf import settings

from social.api.addresses import UNKNOWN
from social.kernel import redis

PAUSE_SECONDS: Final = 300
WRONG_KEY_SECONDS: Final = 60
_REFUSED: Final = b"refused"
_UNREACHABLE: Final = b"unreachable"
# A server that cannot be reached costs the most and is what the pause is for. One that answers "no such key" costs
# little, and a large server has a deleted account in its traffic now and then: a single one must not shut it out.
_ALLOWANCE: Final = 3


class Pause(Exception):
    """A key is not asked for now; `refused` when its server has said that there is no such key."""

    def __init__(self, *, refused: bool) -> None:
        super().__init__("the key could not be fetched a moment ago")
        self.refused = refused


def check(key_id: str, source: str) -> None:
    """Raise Pause when this key, for anybody, or any key, for the address `source`, could not be had just now."""
    names = [_key_name(key_id)]
    if _counts(source):
        names.append(_source_name(source))
    with redis.best_effort("look for pauses of keys"):
        of_key, *of_source = cast("list[bytes | None]", redis.client("cache").mget(names))
        if of_key is not None:
            raise Pause(refused=of_key == _REFUSED)
        if of_source and int(of_source[0] or 0) >= _ALLOWANCE:
            raise Pause(refused=False)


def begin(key_id: str, source: str, *, refused: bool) -> None:
    """Remember that a key could not be fetched: `refused` when its server answered, else it was not reached."""
    with redis.best_effort("pause keys"):
        pipeline = redis.client("cache").pipeline(transaction=False)
        pipeline.set(_key_name(key_id), _REFUSED if refused else _UNREACHABLE, ex=PAUSE_SECONDS)
        if _counts(source):
            name = _source_name(source)
            pipeline.set(name, 0, ex=PAUSE_SECONDS, nx=True)
            pipeline.incrby(name, 1 if refused else _ALLOWANCE)
        pipeline.execute()


def had_wrong_key(actor_uri: str) -> bool:
    """Tell whether the key of an actor was fetched within WRONG_KEY_SECONDS and did not fit; true when Redis is down."""
    found = True
    with redis.best_effort("look for wrong keys"):
        found = bool(redis.client("cache").exists(_wrong_key_name(actor_uri)))
    return found


def note_wrong_key(actor_uri: str) -> None:
    """Remember that the key of an actor was fetched and did not fit (contract, federation section 17)."""
    with redis.best_effort("remember a wrong key"):
        redis.client("cache").set(_wrong_key_name(actor_uri), b"", ex=WRONG_KEY_SECONDS)


def _counts(source: str) -> bool:
    """Tell whether an address stands for one server; in trials on one machine all servers share theirs."""
    if source in ("", UNKNOWN):
        return False
    return not (settings.FEDERATION_LOOPBACK and ipaddress.ip_network(source, strict=False).is_loopback)


def _key_name(key_id: str) -> str:
    # Hashed: the id is as long as its sender likes.
    return redis.key("cache", "keyless", hashlib.sha256(key_id.encode("utf-8", "replace")).hexdigest())


def _wrong_key_name(actor_uri: str) -> str:
    return redis.key("cache", "wrong-key", hashlib.sha256(actor_uri.encode("utf-8", "replace")).hexdigest())


def _source_name(source: str) -> str:
    return redis.key("cache", "keyless-source", source)
