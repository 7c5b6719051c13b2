"""Redis clients for each role, with their time-outs and circuit breakers.

There are four roles, so that an installation can split the load over servers: `cache` (may be emptied at any time), `broker`
(Celery), `streams` (PUBLISH only) and `feeds` (rebuilt from SQL when missing). Nothing is stored only in Redis.
"""

import functools
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar, cast

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, NoScriptError, TimeoutError
from redis.exceptions import RedisError as RedisError
from redis.retry import Retry

from social.kernel.circuits import Circuit
from social.kernel.fast import commands, is_plain

logger = logging.getLogger(__name__)
Role = Literal["cache", "broker", "streams", "feeds"]
T = TypeVar("T")
_PLAIN: Final = is_plain("redis")

# Seconds to connect and to wait for one answer. A web request waits this long for a silent server only once, because the open
# circuit breaker makes all commands of the next second fail immediately. Feeds get more time because pipelines of a fan-out are
# long.
TIMEOUTS: Final[dict[Role, float]] = {"cache": 0.2, "broker": 0.2, "streams": 0.2, "feeds": 1.0}
MAX_CONNECTIONS: Final = 64

_circuits: Final[dict[Role, Circuit]] = {role: Circuit(1.0) for role in TIMEOUTS}
_clients: dict[tuple[Role, str], redis.Redis] = {}
_clients_lock = threading.Lock()


class _Guarded(Retry):
    """Retry policy without retries, which makes commands fail immediately while the circuit breaker is open.

    Before a command is sent on an idle connection, the pool notices whether it was closed.
    """

    def __init__(self, guard: Circuit) -> None:
        super().__init__(NoBackoff(), 0)
        self.guard = guard

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Guarded":
        # redis-py copies the policy for each connection; the circuit breaker must be shared by all of them.
        return self

    def call_with_retry(self, do: Callable[[], T], *args: Any, **kwargs: Any) -> T:
        if self.guard.is_open:
            raise ConnectionError("Redis failed less than a second ago: not asked.")
        try:
            return super().call_with_retry(do, *args, **kwargs)
        except (ConnectionError, TimeoutError, OSError):
            self.guard.failed()
            raise


def url(role: Role) -> str:
    return str(settings.REDIS_URLS[role])


def circuit(role: Role) -> Circuit:
    """Return the role's circuit breaker in this process; tests close it after they have restarted a server."""
    return _circuits[role]


def _options(role: Role) -> dict[str, Any]:
    return {
        "socket_timeout": TIMEOUTS[role],
        "socket_connect_timeout": TIMEOUTS[role],
        "max_connections": MAX_CONNECTIONS,
        # RESP2 without driver announcement: connecting then costs one round trip (SELECT) instead of four.
        "protocol": 2,
        "driver_info": None,
    }


def client(role: Role) -> redis.Redis:
    """Return the role's client, which returns bytes.

    All threads share the client, even after a fork (its pool notices the new process).

    Commands raise RedisError (connection refused, timeout, wrong type): use `best_effort` where the caller works without Redis.
    """
    address = (role, url(role))
    found = _clients.get(address)
    if found is None:
        with _clients_lock:
            found = _clients.get(address)
            if found is None:
                found = redis.Redis.from_url(address[1], retry=_Guarded(_circuits[role]), **_options(role))
                _clients[address] = found
    return found


def _plain(role: Role) -> Any:
    """Return a client that returns the answers unconverted."""
    address = (role, f"{url(role)}#plain")
    found = _clients.get(address)
    if found is None:
        found = redis.Redis.from_url(url(role), retry=_Guarded(_circuits[role]), **_options(role))
        found.response_callbacks.clear()
        _clients[address] = found
    return found


def ask(role: Role, *command: str | bytes | int | float) -> Any:
    """Return the answer to one command, in bytes.

    This is faster than calling the client; it is meant for commands that run in every request.

    Like the client, it fails immediately while the circuit breaker is open, sends nothing twice, and notices a closed
    connection before it sends anything. Raises RedisError.
    """
    if _PLAIN:
        return _plain(role).execute_command(*command)
    return commands.ask(client(role), _circuits[role], command)


def ask_at_once(role: Role, *asked: tuple[str | bytes | int | float, ...]) -> list[Any]:
    """Return the answers to several commands that run as one transaction; otherwise works like `ask`."""
    if _PLAIN:
        pipeline = _plain(role).pipeline(transaction=True)
        for command in asked:
            pipeline.execute_command(*command)
        answers: list[Any] = pipeline.execute()
        return answers
    return commands.ask_at_once(client(role), _circuits[role], asked)


def subscriber(role: Role) -> redis.asyncio.connection.AbstractConnection:
    """Return a connection outside any pool, not yet connected, for SUBSCRIBE: the caller reads and disconnects it."""
    options = {**_options(role), "retry": AsyncRetry(NoBackoff(), 0)}
    pool: Any = redis.asyncio.ConnectionPool.from_url(url(role), **options)
    return cast("redis.asyncio.connection.AbstractConnection", pool.make_connection())


def key(role: Role, *parts: object) -> str:
    """Return a key such as `cache:token:12`; the role's prefix separates roles that share one server."""
    return ":".join((role, *map(str, parts)))


@dataclass
class Attempt:
    """The outcome of a `best_effort` block; read it after the block."""

    failed: bool = False


_last_warnings: dict[str, float] = {}


@contextmanager
def best_effort(purpose: str) -> Iterator[Attempt]:
    """Swallow Redis errors inside the block; a warning names the `purpose`, at most once in 10 s for each purpose."""
    attempt = Attempt()
    try:
        yield attempt
    except (RedisError, OSError) as error:
        attempt.failed = True
        now = time.monotonic()
        if now - _last_warnings.get(purpose, -10.0) >= 10.0:
            _last_warnings[purpose] = now
            logger.warning("Redis does not answer: gave up to %s (%s: %s)", purpose, type(error).__name__, error)


class Script:
    """A Lua script, sent in full once per server and then called by its digest, even after a SCRIPT FLUSH or a restart.

    `on_unknown` is called before the script is sent to a server that does not have it. Such a server is new, was restarted,
    or is a replica that took over: it may hold old data. The callback loads the scripts that belong together (`load`).
    """

    def __init__(self, role: Role, source: str, on_unknown: Callable[[], None] | None = None) -> None:
        self.role = role
        self.on_unknown = on_unknown
        self._run = functools.lru_cache(maxsize=4)(lambda connected: connected.register_script(source))

    def __call__(self, keys: Sequence[str], args: Sequence[str | bytes | int | float] = ()) -> Any:
        script = self._run(client(self.role))
        try:
            return ask(self.role, "EVALSHA", script.sha, len(keys), *keys, *args)
        except NoScriptError:
            if self.on_unknown is not None:
                self.on_unknown()
        return script(keys=keys, args=args)

    @property
    def digest(self) -> str:
        """The name by which the role's server knows the script."""
        return str(self._run(client(self.role)).sha)

    def load(self) -> None:
        """Load the script into the role's server. Raises RedisError."""
        connected = client(self.role)
        connected.script_load(self._run(connected).script)
