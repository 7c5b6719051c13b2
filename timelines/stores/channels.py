"""Names of the Redis channels between publishing and streaming processes, and which of them have subscribers.

Apps above publish on these too: notifications on `notifications(account_id)`, announcements on BROADCAST. The format of
messages is in `timelines.stores.messages`. Redis itself is asked for subscribers (PUBSUB NUMSUB): the answer is exact, needs
no bookkeeping and survives a FLUSHALL. It covers only the server that was asked, which is why the role `streams` is one
server (or one primary) and not a sharded cluster.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from typing import Final

from social.kernel import redis, streams
from social.kernel.batches import in_batches

HOMES: Final = "homes"
"""Posts for home timelines, each message with its list of recipients: one message for each post and 500 readers."""

PUBLIC_LOCAL: Final = "public:local"
PUBLIC_REMOTE: Final = "public:remote"


BROADCAST: Final = "everybody"
"""Events for every home stream of this server: announcements."""


def home(account_id: int) -> str:
    """Return the channel of the account's own events. Every process that streams to the account subscribes to it, so that
    subscribers can be counted.
    """
    return f"timeline:{account_id}"


def of_list(list_id: int) -> str:
    """Return the channel of the posts of a list, as its owner sees them."""
    return f"list:{list_id}"


def notifications(account_id: int) -> str:
    """Return the channel of the account's notifications."""
    return f"notifications:{account_id}"


def direct(account_id: int) -> str:
    """Return the channel of the account's conversations."""
    return f"direct:{account_id}"


def hashtag(name: str) -> str:
    """Return the channel of public posts with a hashtag, by its normalised name."""
    return f"hashtag:{name}"


def relations(account_id: int) -> str:
    """Return the channel that reports changed blocks or mutes of, or against, the account, which streams must then reload."""
    return f"relations:{account_id}"


def device(token_id: int) -> str:
    """Return the channel of encrypted messages for the device that is bound to this token."""
    return f"device:{token_id}"


def token(token_id: int) -> str:
    """Return the channel that reports that a token was revoked (`accounts.services.tokens.channel_of`): its connections are
    closed.
    """
    return f"token:{token_id}"


def user(user_id: int) -> str:
    """Return the channel that reports that the user was disabled, suspended or changed: their connections are checked again."""
    return f"user:{user_id}"


_NAMES_PER_CALL: Final = 1000


def subscribed_channels(channels: Iterable[str]) -> set[str]:
    """Return the channels with subscribers, so that no entity is encoded without need; none when Redis does not respond."""
    found: set[str] = set()
    with redis.best_effort("ask who is listening"):
        for names in in_batches(channels, _NAMES_PER_CALL):
            # The reply alternates names and numbers.
            answer = redis.ask("streams", "PUBSUB", "NUMSUB", *map(streams.channel_key, names))
            found.update(compress(names, answer[1::2]))
    return found
