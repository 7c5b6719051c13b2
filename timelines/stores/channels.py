"""Names of the Redis channels between publishing and streaming processes, including the channels of higher apps, and queries
for channels with subscribers. The format of messages is in `timelines.stores.messages`. PUBSUB NUMSUB is exact even after a
FLUSHALL, but counts the subscribers of one Redis server only. The role `streams` must therefore not be a sharded cluster.
"""

from collections.abc import Iterable
from itertools import compress
from typing import Final

from social.kernel import redis, streams
from social.kernel.batches import in_batches

HOMES: Final = "homes"
"""Channel of posts for home timelines: one message for each post and up to 500 readers, who are listed in it."""

PUBLIC_LOCAL: Final = "public:local"
PUBLIC_REMOTE: Final = "public:remote"


BROADCAST: Final = "everybody"
"""Channel of events for every home stream of this server, such as announcements."""


def home(account_id: int) -> str:
    """Return the channel of the account's own events, to which every process that streams to the account subscribes."""
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
    """Return the channel that reports changed blocks and mutes by or against the account, so that its streams reload them."""
    return f"relations:{account_id}"


def device(token_id: int) -> str:
    """Return the channel of encrypted messages for the device that is bound to this token."""
    return f"device:{token_id}"


def token(token_id: int) -> str:
    """Return the channel that reports that a token was revoked (`accounts.identity.services.tokens.channel_of`)."""
    return f"token:{token_id}"


def user(user_id: int) -> str:
    """Return the channel that reports that the user was disabled, suspended or changed, so that their streams are checked."""
    return f"user:{user_id}"


_NAMES_PER_CALL: Final = 1000


def subscribed_channels(channels: Iterable[str]) -> set[str]:
    """Return the channels that have subscribers (entities are encoded only for these); none when Redis does not respond."""
    found: set[str] = set()
    with redis.best_effort("ask who is listening"):
        for names in in_batches(channels, _NAMES_PER_CALL):
            # The reply alternates names and numbers.
            answer = redis.ask("streams", "PUBSUB", "NUMSUB", *map(streams.channel_key, names))
            found.update(compress(names, answer[1::2]))
    return found
