"""Identifies the caller of a request and counts the request against the rate limits, in one round trip to Redis.

If Redis is down, the caller is read from the database and requests are not counted (fail open); Redis is only a cache here. A
caller is cached for 60 s in Redis and for 1 s in each process; `forget_tokens` shortens this to 1 s. Only a token's SHA-256 is
stored.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from django.conf import settings

from social.api import identities
from social.api.identities import Identity
from social.api.limits import Count, Rule, headers, tightest
from social.kernel import errors, redis

IDENTITY_SECONDS: Final = 60
LOCAL_SECONDS: Final = 1.0
# Longer than any process takes between reading a token from the database and storing its entry.
FORGOTTEN_SECONDS: Final = 10
_LOCAL_ENTRIES: Final = 4096
_REVOKED_MARK: Final = b"-"

# KEYS[1]: the identity's entry. ARGV: the prefix of the counters' keys, the client address, the caller's "token:user:account:"
# if known, the entry to store, its lifetime in seconds; then name, subject, window and seconds for each rule. The subject of a
# counter is known only after the entry has been read. Therefore a script is needed, and Redis must not be sharded by key. The
# script returns the entry (false: the token is unknown, and nothing is counted), then one number per rule (-1: the rule does
# not apply to this caller).
_ADMIT = redis.Script(
    "cache",
    """
local known = ARGV[3]
local entry = false
if KEYS[1] and known == '' then
  entry = redis.call('GET', KEYS[1])
  if not entry or entry == '-' then return {false} end
  known = entry
elseif KEYS[1] then
  entry = ARGV[4]
  redis.call('SET', KEYS[1], entry, 'NX', 'EX', ARGV[5])
end
local token, user, account = string.match(known, '^(%d*):(%d*):(%d*):')
local answer = {entry}
for i = 6, #ARGV, 4 do
  local kind, subject = ARGV[i + 1], ''
  if kind == 'user' then subject = user
  elseif kind == 'token' then subject = token
  elseif kind == 'account' then subject = account
  elseif kind == 'address' or user == '' then subject = ARGV[2] end
  if subject == '' then
    answer[#answer + 1] = -1
  else
    local key = ARGV[1] .. ARGV[i] .. ':' .. subject .. ':' .. ARGV[i + 2]
    local used = redis.call('INCR', key)
    if used == 1 then redis.call('EXPIRE', key, ARGV[i + 3]) end
    answer[#answer + 1] = used
  end
end
return answer
""",
)

_RELEASE = redis.Script("cache", "if redis.call('EXISTS', KEYS[1]) == 1 then return redis.call('DECR', KEYS[1]) end")
_ANONYMOUS: Final = b":::"

_local: dict[str, tuple[float, Identity]] = {}
# Decoded identities, keyed by the entry that Redis returned, so that equal entries are decoded once.
_decoded: dict[bytes, Identity] = {}


@dataclass(slots=True)
class Admission:
    """The caller of a request, if known, and the state of their rate limits.

    `counts` are the counters of the server's limits, and `families` the counters of the action's limits. Both lists are empty
    if limits are off or Redis is down. `refusal` is the token source's error for a token that is no longer valid.
    """

    identity: Identity | None
    token_sent: bool
    address: str
    counts: list[Count]
    families: list[Count]
    refusal: errors.Unauthorized | None = None

    def headers(self) -> dict[str, str]:
        """Return the `X-RateLimit-*` headers for the counter with the fewest requests left; empty if nothing was counted."""
        counts = self.counts + self.families if self.families else self.counts
        count = tightest(counts)
        return headers(count) if count is not None else {}


def checksum_of(token: str) -> str:
    """Return the SHA-256 of a token in hexadecimal, as in the column token_checksum; it does not reveal the token."""
    return sha256(token.encode("utf-8", "replace")).hexdigest()


def admit(token: str | None, address: str, rules: Sequence[Rule], *, acts: bool = True) -> Admission:
    """Identify the caller and count the request against the `rules` that apply to the caller.

    `token` is the token as sent, or None; `address` is the rate key of the client. `acts`: whether the request changes
    something. If so, the cache of this process is not used, so that a revoked token cannot change anything. Raises database
    errors, but no Redis errors.
    """
    checksum = checksum_of(token) if token else None
    counted = list(rules) if settings.RATE_LIMITS else []
    identity: Identity | None = None
    answer: list[Any] | None = None
    refusal: errors.Unauthorized | None = None
    entry_key = [redis.key("cache", "token", checksum)] if checksum else []
    if token and checksum:
        identity = None if acts else _cached_identity(checksum)
        if identity is None or counted:
            # If rate limits are on, Redis is queried anyway, and its entry is newer than the entry in this process.
            since = time.monotonic()
            answer = _ask(entry_key, address, b"", b"", counted)
            found = _decode(answer[0]) if answer is not None and answer[0] else None
            if found is not None:
                identity = found
                _remember(checksum, identity, since)
            elif answer is not None or identity is None:
                # This time is taken before the query, because a change that is committed after the query must take effect
                # within a second.
                since = time.monotonic()
                try:
                    identity = identities.find_in_database(token)
                except errors.Unauthorized as error:
                    identity, refusal = None, error
                if identity is not None:
                    _remember(checksum, identity, since)
                    known = identities.encode(identity)
                    answer = _ask(entry_key, address, known, known, counted)
                else:
                    answer = _ask([], address, _ANONYMOUS, b"", counted)
    elif counted:
        answer = _ask([], address, _ANONYMOUS, b"", counted)
    admission = _admission(identity, bool(token), address, counted, answer)
    admission.refusal = refusal
    return admission


def count(rule: Rule, *, subject: str = "", address: str = "") -> Count | None:
    """Count a request outside the API, such as one to the sign-in page; return None if limits are off or Redis is down.

    `subject` is needed for rules per account or user, `address` for other rules. API requests use the same counters: each limit
    covers endpoints and pages together (security row 84).
    """
    if not settings.RATE_LIMITS:
        return None
    window = int(time.time() // rule.period)
    counted: Count | None = None
    with redis.best_effort("count a request"):
        key = _counter(rule, subject, address, window)
        pipeline = redis.client("cache").pipeline(transaction=True)
        pipeline.incr(key)
        pipeline.expire(key, rule.period)
        counted = Count(rule, int(pipeline.execute()[0]), (window + 1) * rule.period)
    return counted


def is_exceeded(rule: Rule, *, subject: str) -> bool:
    """Count a request of `subject` as `count` does, and tell whether the limit is exceeded."""
    counted = count(rule, subject=subject)
    return counted is not None and counted.exceeded


def forget(rule: Rule, *, subject: str) -> None:
    """Reset a subject's counter for the current period."""
    with redis.best_effort("forget a count"):
        redis.client("cache").delete(_counter(rule, subject, "", int(time.time() // rule.period)))


def _counter(rule: Rule, subject: str, address: str, window: int) -> str:
    # Text that a person typed is stored as a digest only.
    whose = address if not subject else subject if subject.isdecimal() else checksum_of(subject)
    return redis.key("cache", "limit", rule.name, whose, window)


def give_back(admission: Admission) -> None:
    """Subtract a refused request, which had no effect, from the counters of the action's limits (behaviours section 4)."""
    identity = admission.identity
    for count_ in admission.families:
        if identity is None or identity.account_id is None:
            continue
        window = count_.reset // count_.rule.period - 1
        key = redis.key("cache", "limit", count_.rule.name, identity.account_id, window)
        with redis.best_effort("give an attempt back"):
            _RELEASE([key])


def forget_tokens(token_checksums: Sequence[str]) -> bool:
    """Drop the cached entries of tokens, so that within a second every process queries the database again.

    Call it after the commit that revoked the tokens or changed their user's state. Never raises. Returns False when Redis
    did not answer: entries may then live for the rest of their 60 s, so the caller publishes an event and calls again.
    """
    for checksum in token_checksums:
        _local.pop(checksum, None)
    if not token_checksums:
        return True
    with redis.best_effort("forget tokens") as attempt:
        pipeline = redis.client("cache").pipeline(transaction=False)
        for checksum in token_checksums:
            # The entry is overwritten instead of deleted, because a process may have read the old state from the database and
            # be about to store it (with NX).
            pipeline.set(redis.key("cache", "token", checksum), _REVOKED_MARK, ex=FORGOTTEN_SECONDS)
        pipeline.execute()
    return not attempt.failed


def admission_of(request: Any) -> Admission | None:
    """Return the admission of a request; None before authentication."""
    # The attribute is read from Django's request, because DRF's request would search several places first.
    admission: Admission | None = getattr(getattr(request, "_request", request), "admission", None)
    return admission


def _ask(entry_key: list[str], address: str, known: bytes, entry: bytes, rules: list[Rule]) -> list[Any] | None:
    if not entry_key and not rules:
        return None
    now = int(time.time())
    arguments: list[str | bytes | int | float] = [
        redis.key("cache", "limit", ""),
        address,
        known,
        entry,
        IDENTITY_SECONDS,
    ]
    for rule in rules:
        arguments += (rule.name, rule.per, now // rule.period, rule.period)
    answer: list[Any] | None = None
    with redis.best_effort("find a token and count the request"):
        answer = _ADMIT(entry_key, arguments)
    return answer


def _admission(
    identity: Identity | None, sent: bool, address: str, rules: list[Rule], answer: list[Any] | None
) -> Admission:
    admission = Admission(identity, sent, address, [], [])
    if answer is not None and len(answer) > 1:
        now = int(time.time())
        for rule, used in zip(rules, answer[1:], strict=True):
            if used >= 0:
                count_ = Count(rule, used, (now // rule.period + 1) * rule.period)
                (admission.families if rule.family else admission.counts).append(count_)
    return admission


def _cached_identity(checksum: str) -> Identity | None:
    found = _local.get(checksum)
    if found is None:
        return None
    until, identity = found
    if until > time.monotonic():
        return identity
    _local.pop(checksum, None)
    return None


def _remember(checksum: str, identity: Identity, since: float) -> None:
    if len(_local) >= _LOCAL_ENTRIES:
        _local.clear()
    _local[checksum] = (since + LOCAL_SECONDS, identity)


def _decode(entry: bytes) -> Identity | None:
    identity = _decoded.get(entry)
    if identity is None:
        try:
            identity = identities.decode(entry)
        except ValueError:
            return None  # written by another version of this server
        if len(_decoded) >= _LOCAL_ENTRIES:
            _decoded.clear()
        _decoded[entry] = identity
    return identity
