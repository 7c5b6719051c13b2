"""Which channels have subscribers now, so that nothing is encoded for nobody.

Redis is asked itself (PUBSUB NUMSUB): its answer is exact, needs no keeping and survives a FLUSHALL. It holds for the
server that was asked, which is why the role `streams` is one server (or one primary) and not a sharded cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Final

from social.kernel import redis, streams
from social.kernel.batches import in_batches

_NAMES_PER_CALL: Final = 1000


def subscribed_channels(channels: Iterable[str]) -> set[str]:
    """Those of the channels that some process listens on; none when Redis does not answer."""
    found: set[str] = set()
    with redis.best_effort("ask who is listening"):
        for names in in_batches(channels, _NAMES_PER_CALL):
            # Name and number in turn.
            answer = redis.ask("streams", "PUBSUB", "NUMSUB", *map(streams.channel_key, names))
            found.update(compress(names, answer[1::2]))
    return found
