"""Pauses of key fetches: after a failure, a key is not fetched again for a while, so that forged requests do not make this
server send requests (contract, federation section 10 "Circuit"). Without Redis there are no pauses.
"""

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
# One fetch from an unreachable server uses up the allowance, because waiting costs the most. The answer "no such key" uses up
# only a third, because it costs little, and because some requests from large servers are signed by deleted accounts.
_ALLOWANCE: Final = 3


class Pause(Exception):
    """Refusal to fetch a key now; `refused` is True when its server has answered that there is no such key."""

    def __init__(self, *, refused: bool) -> None:
        super().__init__("the key could not be fetched a moment ago")
        self.refused = refused


def check(key_id: str, source: str) -> None:
    """Raise Pause when a fetch of this key has failed recently, or too many fetches have failed for the address `source`."""
    names = [_key_name(key_id)]
    if _counts(source):
        names.append(_source_name(source))
    with redis.best_effort("look for pauses of keys"):
        key_state, *source_count = cast("list[bytes | None]", redis.client("cache").mget(names))
        if key_state is not None:
            raise Pause(refused=key_state == _REFUSED)
        if source_count and int(source_count[0] or 0) >= _ALLOWANCE:
            raise Pause(refused=False)


def begin(key_id: str, source: str, *, refused: bool) -> None:
    """Record that the fetch of a key has failed: `refused` is True if the key's server has answered, False if it could not be
    reached.
    """
    with redis.best_effort("pause keys"):
        pipeline = redis.client("cache").pipeline(transaction=False)
        pipeline.set(_key_name(key_id), _REFUSED if refused else _UNREACHABLE, ex=PAUSE_SECONDS)
        if _counts(source):
            name = _source_name(source)
            pipeline.set(name, 0, ex=PAUSE_SECONDS, nx=True)
            pipeline.incrby(name, 1 if refused else _ALLOWANCE)
        pipeline.execute()


def had_wrong_key(actor_uri: str) -> bool:
    """Tell whether a freshly fetched key of the actor has failed to verify a signature in the last WRONG_KEY_SECONDS; True
    without Redis.
    """
    is_noted = True
    with redis.best_effort("look for wrong keys"):
        is_noted = bool(redis.client("cache").exists(_wrong_key_name(actor_uri)))
    return is_noted


def note_wrong_key(actor_uri: str) -> None:
    """Record that an actor's freshly fetched key did not verify the signature (contract, federation section 17)."""
    with redis.best_effort("remember a wrong key"):
        redis.client("cache").set(_wrong_key_name(actor_uri), b"", ex=WRONG_KEY_SECONDS)


def _counts(source: str) -> bool:
    """Tell whether failures are counted for this address. Loopback addresses are not counted if FEDERATION_LOOPBACK is set,
    because all servers on the machine then share one address.
    """
    if source in ("", UNKNOWN):
        return False
    return not (settings.FEDERATION_LOOPBACK and ipaddress.ip_network(source, strict=False).is_loopback)


def _key_name(key_id: str) -> str:
    # Hashed, because the sender chooses the length of the id.
    return redis.key("cache", "keyless", hashlib.sha256(key_id.encode("utf-8", "replace")).hexdigest())


def _wrong_key_name(actor_uri: str) -> str:
    return redis.key("cache", "wrong-key", hashlib.sha256(actor_uri.encode("utf-8", "replace")).hexdigest())


def _source_name(source: str) -> str:
    return redis.key("cache", "keyless-source", source)
