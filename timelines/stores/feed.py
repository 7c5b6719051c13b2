"""Feeds in Redis. Each feed is a sorted set of post ids with a name, such as `home:12` (`home`) or `list:5` (`of_list`), and
may vanish at any time.

A feed is a cache with one guarantee: **above its lowest item no post is missing**. The lowest item may be the floor, a marker
that there are no older posts at all. Posts below the lowest item are read from SQL.

An item has 16 bytes: the post's id and (for a boost) the boosted post's id, both big-endian. All items have score 0: Redis
then orders them byte by byte, which is exactly by id. (A score is a double and would round adjacent ids to the same value.)

Concurrent builds and writes: a builder first registers itself (`begin`), then reads SQL, then stores (`finish`). Items that
fan-out adds meanwhile are also written to the builder's side set and merged, so that a post committed after the builder's query
is not lost. `drop` ends the registration: the data that such a builder has read is stale, and its `finish` does nothing. The
same happens after a FLUSHALL.

A server that restarts with an older copy of its data (a snapshot, a promoted replica, a power failure) would restore feeds
without the posts added since then. Such a copy contains no scripts, so the first call that finds the scripts missing drops
all feeds.
"""

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
"""Limit on the items of one feed (contract, behaviours section 11)."""

EXTENDED_ITEMS_LIMIT: Final = 4000
"""Limit on the items of a feed whose reader has paged beyond MAX_ITEMS; the older items stay until `shorten` is called."""

RETENTION: Final = timedelta(days=7)
"""Time for which a feed is kept after it was last read."""

# Time that is added to RETENTION before a user counts as absent, because presence is recorded only every twelve hours.
_RETENTION_MARGIN: Final = timedelta(days=1)
_BUILD_SECONDS: Final = 60
_PRESENCE_SECONDS: Final = 12 * 3600
_KEYS_PER_CALL: Final = 500
_PAIR: Final = struct.Struct(">QQ")
_FLOOR: Final = bytes(16)


class FeedItem(NamedTuple):
    """A post in a feed; `original` is the boosted post's id, 0 for a post that is not a boost."""

    id: int
    original: int = 0


def _unpacked(data: bytes) -> list[FeedItem]:
    return [FeedItem(*pair) for pair in _PAIR.iter_unpack(data)]


def _packed(items: Iterable[FeedItem]) -> bytes:
    return b"".join(_PAIR.pack(*item) for item in items)


@dataclass(frozen=True, slots=True)
class Slice:
    """Items of a feed in the requested order. Posts are missing among them only if an ascending read starts below the feed's
    lowest item. `complete` tells whether no items follow the last item. `lowest` is the feed's lowest item, FeedItem(0) for the
    floor, None without a feed. `present` tells whether the reader was recorded as present in the last twelve hours. `size`
    counts all items.
    """

    items: list[FeedItem]
    complete: bool
    lowest: FeedItem | None
    present: bool
    size: int = 0


def drop_all() -> None:
    """Drop every feed, and the data that their builders have read. Raises RedisError."""
    # The scripts are loaded last. Two processes may do this at the same time, because dropped feeds are built again.
    connected = redis.client("feeds")
    keys = connected.scan_iter(match=feed_key("*"), count=5000)
    for batch in in_batches(keys, _KEYS_PER_CALL):
        connected.unlink(*batch)
    for script in (_ADD_SCRIPT, _REMOVE_SCRIPT, _FINISH_SCRIPT):
        script.load()


# KEYS: feeds. ARGV: limit of items, then the items of each feed, oldest first, or only once if they are the same for all
# feeds. A post below the lowest item is not added, because the feed may lack posts between the two.
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
    drop_all,
)

# KEYS: feeds. ARGV: the items to remove from each feed, and from the side sets of builders.
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
    drop_all,
)

# ARGV: the builder's mark, limit of items, seconds to live, the lowest item that the builder knew ('' for no feed), items,
# floor. Items that fan-out has added meanwhile are added last, as if they were new.
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
    drop_all,
)


def home(account_id: int) -> str:
    """Return the name of an account's home feed."""
    return f"home:{account_id}"


def of_list(list_id: int) -> str:
    """Return the name of a list's feed."""
    return f"list:{list_id}"


def feed_key(name: str) -> str:
    """Return the Redis key of the feed with this name."""
    return redis.key("feeds", "feed", name)


def _presence_key(account_id: int) -> str:
    return redis.key("feeds", "present", account_id)


def absent_before(now: datetime) -> datetime:
    """Return a time: users who were last active before it are absent, and have no feed."""
    return now - RETENTION - _RETENTION_MARGIN


def mark_present(account_id: int) -> None:
    """Remember for twelve hours that the account's presence is recorded in the database. Raises RedisError."""
    redis.client("feeds").set(_presence_key(account_id), 1, ex=_PRESENCE_SECONDS)


def read(name: str, reader_id: int, cursor: Cursor) -> Slice:
    """Return the items at the cursor, and whether `reader_id` was active; keeps the feed for seven days. Raises RedisError."""
    is_script_loaded, present, found, lowest, size = _read_state(name, reader_id, cursor)
    if not is_script_loaded:
        drop_all()
        is_script_loaded, present, found, lowest, size = _read_state(name, reader_id, cursor)
    if not (is_script_loaded and lowest):
        return Slice([], False, None, present)
    complete = len(found) < cursor.limit and (cursor.ascending or lowest[0].id == 0)
    return Slice(found, complete, lowest[0], present, size)


def _read_state(name: str, reader_id: int, cursor: Cursor) -> tuple[bool, bool, list[FeedItem], list[FeedItem], int]:
    # Returns whether the script is loaded and the reader's presence is recorded, the feed's items at the cursor, its lowest
    # item, and its size. A script for this would take the Redis server twice as long as plain commands.
    key, before, after = feed_key(name), cursor.before, cursor.after
    lower = b"(" + (_FLOOR if after is None else after.to_bytes(8) + b"\xff" * 8)
    upper = b"+" if before is None else b"(" + before.to_bytes(8)
    if cursor.ascending:
        items: tuple[str | bytes | int, ...] = ("ZRANGEBYLEX", key, lower, upper, "LIMIT", 0, cursor.limit)
    else:
        items = ("ZREVRANGEBYLEX", key, upper, lower, "LIMIT", 0, cursor.limit)
    (is_script_loaded,), present, found, lowest, size, _kept = redis.ask_at_once(
        "feeds",
        ("SCRIPT", "EXISTS", _ADD_SCRIPT.digest),
        ("EXISTS", _presence_key(reader_id)),
        items,
        ("ZRANGE", key, 0, 0),
        ("ZCARD", key),
        ("EXPIRE", key, int(RETENTION.total_seconds())),
    )
    return bool(is_script_loaded), bool(present), _unpacked(b"".join(found)), _unpacked(b"".join(lowest)), size


def is_present(account_id: int) -> bool:
    """Tell whether `mark_present` was called in the last twelve hours. Raises RedisError."""
    return bool(redis.client("feeds").exists(_presence_key(account_id)))


def newest(names: Iterable[str], number: int) -> dict[str, list[FeedItem]]:
    """Return the newest `number` items of feeds, by name, in ascending order; none for a missing feed. Raises RedisError."""
    found: dict[str, list[FeedItem]] = {}
    for batch in in_batches(names, _KEYS_PER_CALL):
        commands = [("ZREVRANGE", feed_key(name), 0, number - 1) for name in batch]
        for name, items in zip(batch, redis.ask_at_once("feeds", *commands), strict=True):
            found[name] = _unpacked(b"".join(item for item in reversed(items) if item != _FLOOR))
    return found


def add(items: Mapping[str, Sequence[FeedItem]]) -> None:
    """Add posts to feeds (by name) that exist or are being built. Repeated additions have no effect. Raises RedisError."""
    # Feeds that get the same posts share one list, which is sent only once.
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
    """Remove posts from feeds (by name); missing feeds and posts are ignored. Raises RedisError."""
    for batch in in_batches((name for name, removed_items in items.items() if removed_items), _KEYS_PER_CALL):
        _REMOVE_SCRIPT([feed_key(name) for name in batch], [_packed(items[name]) for name in batch])


def shorten(name: str) -> None:
    """Remove the items below the newest `MAX_ITEMS` of a feed. Raises RedisError."""
    redis.client("feeds").zremrangebyrank(feed_key(name), 0, -MAX_ITEMS - 1)


def drop(names: Iterable[str]) -> None:
    """Drop feeds, and the data that their builders have read; reading builds the feeds again. Raises RedisError."""
    for batch in in_batches(names, _KEYS_PER_CALL):
        keys = map(feed_key, batch)
        redis.client("feeds").unlink(*(each for key in keys for each in (key, f"{key}:build")))


def begin(name: str) -> bytes:
    """Register a builder and return its mark. Must be called **before** SQL is read. Raises RedisError."""
    mark = b"mark:" + secrets.token_bytes(12)
    build = f"{feed_key(name)}:build"
    pipeline = redis.client("feeds").pipeline(transaction=True)
    pipeline.zadd(build, {mark: 0})
    pipeline.expire(build, _BUILD_SECONDS)
    pipeline.execute()
    return mark


def finish(name: str, mark: bytes, items: Sequence[FeedItem], *, below: FeedItem | None = None, complete: bool) -> bool:
    """Store a builder's items, which are older than `below`, the lowest item when the builder read the feed. If `below` is
    None, store a new feed. The newest `EXTENDED_ITEMS_LIMIT` items stay; `complete` tells whether no posts are older. Returns
    False if nothing was stored: another builder was first, the feed was shortened or dropped, or the mark has expired after a
    minute. Raises RedisError.
    """
    packed_below = _packed([below] if below is not None else [])
    ttl = int(RETENTION.total_seconds())
    return bool(
        _FINISH_SCRIPT([feed_key(name)], [mark, EXTENDED_ITEMS_LIMIT, ttl, packed_below, _packed(items), int(complete)])
    )
