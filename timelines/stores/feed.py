"""Feeds in Redis: each a sorted set of post ids that may vanish at any time.

A feed is addressed by its name, such as `home:12` (`home`) or `list:5` (`of_list`).

A feed is a cache with one promise: **above its lowest item nothing is missing**. The lowest item may be the floor, a
mark that says there is nothing older at all. Whoever reads below the lowest item asks SQL.

Items are 16 bytes, the post's id and (for a boost) its original's, both big-endian, all with score 0: Redis then orders
them byte by byte, which is by id, exactly. (A score is a double and would round adjacent ids to one value.)

Building and writing at once: a builder first registers itself (`begin`), then reads SQL, then stores (`finish`). What
fan-out adds in between goes into the builder's side set too and is merged, so a post that was committed after the
builder looked is not lost. `drop` ends the registration: what such a builder has read is out of date, and its
`finish` does nothing. The same happens after a FLUSHALL.

A server that comes back with an older copy of its data (a snapshot, a replica that takes over, a power cut) would bring
back feeds that lack the posts since. Scripts are in no such copy: the first call that finds them unknown drops all feeds.
"""

from __future__ import annotations

import secrets
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from social.kernel import redis
from social.kernel.batches import in_batches
from social.kernel.cursors import Cursor

MAX_ITEMS: Final = 800
"""Items of one feed (contract, behaviours section 11)."""

EXTENDED_ITEMS_LIMIT: Final = 4000
"""Items of a feed whose reader has gone on below those: until `shorten`, what was read for them is kept."""

RETENTION: Final = timedelta(days=7)
"""Time that a feed is kept after the last look."""

# Presence is noted every twelve hours and a feed outlives its last reading by RETENTION: a day covers the difference.
_RETENTION_MARGIN: Final = timedelta(days=1)
_BUILD_SECONDS: Final = 60
_PRESENCE_SECONDS: Final = 12 * 3600
_KEYS_PER_CALL: Final = 500
_PAIR: Final = struct.Struct(">QQ")
_FLOOR: Final = bytes(16)


class FeedItem(NamedTuple):
    """A post in a feed; `original` is the boosted post's id, 0 for a post of its own."""

    id: int
    original: int = 0

    def packed(self) -> bytes:
        """Encode as it is stored."""
        return _PAIR.pack(*self)


def _unpacked(data: bytes) -> list[FeedItem]:
    return [FeedItem(*pair) for pair in _PAIR.iter_unpack(data)]


def _packed(items: Iterable[FeedItem]) -> bytes:
    return b"".join(_PAIR.pack(*item) for item in items)


@dataclass(frozen=True, slots=True)
class Slice:
    """Items of a feed in the order asked for.

    `complete`: nothing comes behind the last of them. Those of a downward reading are without gaps; so are those of an upward
    one from an item of the feed on. `lowest` is the feed's lowest item, FeedItem(0) for the floor, None when there is no feed.
    `present`: the reader's presence has been noted in the last twelve hours. `size`: items of the whole feed.
    """

    items: list[FeedItem]
    complete: bool
    lowest: FeedItem | None
    present: bool
    size: int = 0


def _forget_all() -> None:
    """Drop every feed, then load the scripts. Two processes may do this at once: feeds that vanish are built again."""
    connected = redis.client("feeds")
    keys = connected.scan_iter(match=feed_key("*"), count=5000)
    for batch in in_batches(keys, _KEYS_PER_CALL):
        connected.unlink(*batch)
    for script in (_ADD_SCRIPT, _REMOVE_SCRIPT, _FINISH_SCRIPT):
        script.load()


# KEYS: feeds. ARGV: most items, then the items of each feed, oldest first; or once, if they are the same for all. A post below
# the lowest item stays out: between the two there may be others that the feed does not know.
_ADD_SCRIPT: Final = redis.Script(
    "feeds",
    """
local most = tonumber(ARGV[1])
local call = redis.call
local function split(data)
  local items = {}
  for p = 1, #data, 16 do items[#items + 1] = string.sub(data, p, p + 15) end
  return items
end
local builds = {}
for i, key in ipairs(KEYS) do builds[i] = key .. ':build' end
-- Hardly ever is a feed being built: all are asked about at once.
local some_built = call('EXISTS', unpack(builds)) > 0
local same = #ARGV == 2 and split(ARGV[2])
for i, key in ipairs(KEYS) do
  local size, building = call('ZCARD', key), some_built and call('EXISTS', builds[i]) == 1
  if size > 0 or building then
    for _, item in ipairs(same or split(ARGV[i + 1])) do
      if building then call('ZADD', builds[i], 0, item) end
      if size > 0 and call('ZADD', key, 0, item) == 1 then
        if size >= most then
          call('ZREMRANGEBYRANK', key, 0, 0)
        elseif call('ZRANK', key, item) == 0 then
          call('ZREM', key, item)
        else
          size = size + 1
        end
      end
    end
  end
end
""",
    _forget_all,
)

# KEYS: feeds. ARGV: the items to take out of each. Side sets of builders lose them too.
_REMOVE_SCRIPT: Final = redis.Script(
    "feeds",
    """
for i, key in ipairs(KEYS) do
  local data = ARGV[i]
  for p = 1, #data, 16 do
    local item = string.sub(data, p, p + 15)
    redis.call('ZREM', key, item)
    redis.call('ZREM', key .. ':build', item)
  end
end
""",
    _forget_all,
)

# ARGV: the builder's mark, most items, seconds to live, the lowest item the builder knew ('' for no feed), items,
# floor. What fan-out has added meanwhile comes last, as if it was added only now.
_FINISH_SCRIPT: Final = redis.Script(
    "feeds",
    """
local key, build, mark = KEYS[1], KEYS[1] .. ':build', ARGV[1]
if redis.call('ZREM', build, mark) == 0 then return 0 end
local low = redis.call('ZRANGE', key, 0, 0)[1] or ''
local stored = 0
if low == ARGV[4] then
  for p = 1, #ARGV[5], 16 do redis.call('ZADD', key, 0, string.sub(ARGV[5], p, p + 15)) end
  if ARGV[6] == '1' then redis.call('ZADD', key, 0, string.rep('\\0', 16)) end
  for _, item in ipairs(redis.call('ZRANGE', build, 0, -1)) do
    if #item == 16 and redis.call('ZADD', key, 0, item) == 1 and redis.call('ZRANK', key, item) == 0 then
      redis.call('ZREM', key, item)
    end
  end
  redis.call('ZREMRANGEBYRANK', key, 0, -tonumber(ARGV[2]) - 1)
  redis.call('EXPIRE', key, ARGV[3])
  stored = 1
end
for _, item in ipairs(redis.call('ZRANGE', build, 0, -1)) do
  if #item ~= 16 then return stored end
end
redis.call('DEL', build)
return stored
""",
    _forget_all,
)


def home(account_id: int) -> str:
    """The name of an account's home feed."""
    return f"home:{account_id}"


def of_list(list_id: int) -> str:
    """The name of a list's feed."""
    return f"list:{list_id}"


def feed_key(name: str) -> str:
    """Key of the feed of this name."""
    return redis.key("feeds", "feed", name)


def _presence_key(account_id: int) -> str:
    return redis.key("feeds", "present", account_id)


def absent_before(now: datetime) -> datetime:
    """Moment of the last look before which somebody counts as away, and has no feed any more."""
    return now - RETENTION - _RETENTION_MARGIN


def mark_present(account_id: int) -> None:
    """Remember for twelve hours that the account's presence stands in the database. Raises RedisError."""
    redis.client("feeds").set(_presence_key(account_id), 1, ex=_PRESENCE_SECONDS)


def read(name: str, reader_id: int, cursor: Cursor) -> Slice:
    """Read what the feed holds at the cursor, in its direction; `reader_id` is the account whose presence matters.

    Reading keeps the feed for another seven days. Raises RedisError.
    """
    known, present, found, lowest, size = _look(name, reader_id, cursor)
    if not known:
        _forget_all()
        known, present, found, lowest, size = _look(name, reader_id, cursor)
    if not (known and lowest):
        return Slice([], False, None, present)
    complete = len(found) < cursor.limit and (cursor.ascending or lowest[0].id == 0)
    return Slice(found, complete, lowest[0], present, size)


def _look(name: str, reader_id: int, cursor: Cursor) -> tuple[bool, bool, list[FeedItem], list[FeedItem], int]:
    """Read whether scripts and the reader's presence are known; the feed's items at the cursor, its lowest, and its size.

    Plain commands: a script of the same takes the server twice as long, for its interpreter is cold in every request.
    """
    key, before, after = feed_key(name), cursor.before, cursor.after
    lower = b"(" + (_FLOOR if after is None else after.to_bytes(8) + b"\xff" * 8)
    upper = b"+" if before is None else b"(" + before.to_bytes(8)
    if cursor.ascending:
        items: tuple[str | bytes | int, ...] = ("ZRANGEBYLEX", key, lower, upper, "LIMIT", 0, cursor.limit)
    else:
        items = ("ZREVRANGEBYLEX", key, upper, lower, "LIMIT", 0, cursor.limit)
    (known,), present, found, lowest, size, _kept = redis.ask_at_once(
        "feeds",
        ("SCRIPT", "EXISTS", _ADD_SCRIPT.digest),
        ("EXISTS", _presence_key(reader_id)),
        items,
        ("ZRANGE", key, 0, 0),
        ("ZCARD", key),
        ("EXPIRE", key, int(RETENTION.total_seconds())),
    )
    return bool(known), bool(present), _unpacked(b"".join(found)), _unpacked(b"".join(lowest)), size


def is_present(account_id: int) -> bool:
    """Tell whether `mark_present` was called in the last twelve hours. Raises RedisError."""
    return bool(redis.client("feeds").exists(_presence_key(account_id)))


def newest(names: Iterable[str], number: int) -> dict[str, list[FeedItem]]:
    """The newest items of feeds (by name), the oldest of them first; none for a feed that is not there. Raises RedisError."""
    found: dict[str, list[FeedItem]] = {}
    for batch in in_batches(names, _KEYS_PER_CALL):
        commands = [("ZREVRANGE", feed_key(name), 0, number - 1) for name in batch]
        for name, items in zip(batch, redis.ask_at_once("feeds", *commands), strict=True):
            found[name] = _unpacked(b"".join(item for item in reversed(items) if item != _FLOOR))
    return found


def add(items: Mapping[str, Sequence[FeedItem]]) -> None:
    """Add posts to feeds (by name); only feeds that exist or are being built. Adding twice changes nothing.

    Raises RedisError.
    """
    # Feeds that get the same posts share one list, which is sent once.
    alike: dict[int, list[str]] = defaultdict(list)
    for name, added in items.items():
        alike[id(added)].append(name)
    some: list[str] = []
    for names in alike.values():
        if len(names) < _KEYS_PER_CALL:
            some += names
            continue
        data = [_packed(sorted(items[names[0]]))]
        for batch in in_batches(names, _KEYS_PER_CALL):
            _add(batch, data)
    for batch in in_batches(some, _KEYS_PER_CALL):
        packed = {id(items[name]): _packed(sorted(items[name])) for name in batch}
        _add(batch, [packed[id(items[name])] for name in batch])


def _add(names: Sequence[str], data: Sequence[bytes]) -> None:
    _ADD_SCRIPT([feed_key(name) for name in names], [MAX_ITEMS, *data])


def remove(items: Mapping[str, Sequence[FeedItem]]) -> None:
    """Take posts out of feeds (by name); what is not there is no error. Raises RedisError."""
    for batch in in_batches((name for name, gone in items.items() if gone), _KEYS_PER_CALL):
        _REMOVE_SCRIPT([feed_key(name) for name in batch], [_packed(items[name]) for name in batch])


def shorten(name: str) -> None:
    """Forget what lies below the newest `MAX_ITEMS` of a feed. Raises RedisError."""
    redis.client("feeds").zremrangebyrank(feed_key(name), 0, -MAX_ITEMS - 1)


def drop(names: Iterable[str]) -> None:
    """Forget whole feeds, and what builders of them have read. They are built again when somebody looks.

    Raises RedisError.
    """
    for batch in in_batches(names, _KEYS_PER_CALL):
        keys = map(feed_key, batch)
        redis.client("feeds").unlink(*(each for key in keys for each in (key, f"{key}:build")))


def drop_all() -> None:
    """Forget every feed, and what builders of them have read. Raises RedisError."""
    _forget_all()


def begin(name: str) -> bytes:
    """Announce a builder; returns its mark. Call it **before** reading SQL. Raises RedisError."""
    mark = b"mark:" + secrets.token_bytes(12)
    build = f"{feed_key(name)}:build"
    pipeline = redis.client("feeds").pipeline(transaction=True)
    pipeline.zadd(build, {mark: 0})
    pipeline.expire(build, _BUILD_SECONDS)
    pipeline.execute()
    return mark


def finish(name: str, mark: bytes, items: Sequence[FeedItem], *, below: FeedItem | None = None, complete: bool) -> bool:
    """Store what a builder has read; with `below` append it under the feed's lowest item as the builder knew it.

    The newest `EXTENDED_ITEMS_LIMIT` items are kept. `complete`: there is nothing older than `items`. False when it was
    not stored: another builder was first, the feed has changed at its lower end, was dropped, or the mark has run out after
    a minute. Raises RedisError.
    """
    known = b"" if below is None else below.packed()
    ttl = int(RETENTION.total_seconds())
    return bool(
        _FINISH_SCRIPT([feed_key(name)], [mark, EXTENDED_ITEMS_LIMIT, ttl, known, _packed(items), int(complete)])
    )
