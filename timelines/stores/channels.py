"""Names of the Redis channels between the processes that publish and those that stream, and which have subscribers.

Apps above publish on these too: notifications on `notifications(account_id)`, announcements on BROADCAST. What a message
looks like is known by `timelines.stores.messages`. Redis is asked itself who listens (PUBSUB NUMSUB): its answer is exact,
needs no keeping and survives a FLUSHALL. It holds for the server that was asked, which is why the role `streams` is one
server (or one primary) and not a sharded cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Final

from social.kernel import redis, streams
from social.kernel.batches import in_batches

HOMES: Final = "homes"
"""Posts for home timelines, each message with the list of accounts it is for: one message per post and 500 readers."""

PUBLIC_LOCAL: Final = "public:local"
PUBLIC_REMOTE: Final = "public:remote"


BROADCAST: Final = "everybody"
"""Events for every home stream of this server: announcements."""


def home(account_id: int) -> str:
    """The account's own events. Every process that streams to the account listens here, so listeners can be counted."""
    return f"timeline:{account_id}"


def of_list(list_id: int) -> str:
    """The posts of a list, as its owner sees them."""
    return f"list:{list_id}"


def notifications(account_id: int) -> str:
    """The account's notifications."""
    return f"notifications:{account_id}"


def direct(account_id: int) -> str:
    """The account's conversations."""
    return f"direct:{account_id}"


def hashtag(name: str) -> str:
    """Public posts with a hashtag, by its normalised name."""
    return f"hashtag:{name}"


def relations(account_id: int) -> str:
    """Says that blocks or mutes of, or against, the account have changed: what streams remember of them is old."""
    return f"relations:{account_id}"


def device(token_id: int) -> str:
    """Encrypted messages for the device that is bound to this token."""
    return f"device:{token_id}"


def token(token_id: int) -> str:
    """Says that a token was revoked (`accounts.services.tokens.channel_of`): its connections end."""
    return f"token:{token_id}"


def user(user_id: int) -> str:
    """Says that the user was disabled, suspended or changed: their connections are looked at again."""
    return f"user:{user_id}"


_NAMES_PER_CALL: Final = 1000


def subscribed_channels(channels: Iterable[str]) -> set[str]:
    """Choose the channels that some process listens on, so that nothing is encoded for nobody; none when Redis does not
    answer.
    """
    found: set[str] = set()
    with redis.best_effort("ask who is listening"):
        for names in in_batches(channels, _NAMES_PER_CALL):
            # Name and number in turn.
            answer = redis.ask("streams", "PUBSUB", "NUMSUB", *map(streams.channel_key, names))
            found.update(compress(names, answer[1::2]))
    return found
