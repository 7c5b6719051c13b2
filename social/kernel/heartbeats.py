"""Heartbeats of each kind of process, which the doctor checks."""

from datetime import UTC, datetime

from social.kernel import liveness, redis
from social.kernel.clock import now

INTERVAL = 10.0
EXPIRY = 60


def beat(role: str) -> None:
    """Record that a process of this role ("worker", "scheduler", "streaming") is alive; call it every INTERVAL seconds.
    Never raises: the doctor reports a missing heartbeat.
    """
    liveness.tell_supervisor()
    with redis.best_effort("write a heartbeat"):
        redis.client("cache").set(redis.key("cache", "heartbeat", role), int(now().timestamp()), ex=EXPIRY)


def last(role: str) -> datetime | None:
    """Return the time of a role's last heartbeat; None if there was none in the last EXPIRY seconds. Raises RedisError."""
    written = redis.client("cache").get(redis.key("cache", "heartbeat", role))
    return datetime.fromtimestamp(int(written), UTC) if isinstance(written, bytes) else None
