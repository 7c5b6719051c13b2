"""How to ask PostgreSQL a question before Django is loaded, and what to say when it does not answer."""

from __future__ import annotations

from typing import Any

import psycopg

from social.runtime.failures import OperatorError
from social.settings import env
from social.settings.env import without_password

OLDEST = 15
# Django's and not libpq's.
_DJANGO_OPTIONS = {"pool", "server_side_binding", "assume_role", "isolation_level"}


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection, in autocommit. OperatorError when the server is too old or does not answer within 5 s."""
    try:
        config = env.database(url)
        options = {key: value for key, value in config.get("OPTIONS", {}).items() if key not in _DJANGO_OPTIONS}
        connection = psycopg.connect(
            dbname=config["NAME"] or None,
            user=config["USER"] or None,
            password=config["PASSWORD"] or None,
            host=config["HOST"] or None,
            port=config["PORT"] or None,
            connect_timeout=5,
            autocommit=True,
            **options,
        )
    except psycopg.Error as error:
        reason = (
            str(error).strip().splitlines()[0].removeprefix("connection failed: ").removeprefix("connection is bad: ")
        )
        raise OperatorError(
            f"PostgreSQL at {without_password(url)} does not let us in: {reason}. Check DATABASE_URL and that the server runs."
        ) from None
    except (ValueError, TypeError, KeyError):
        raise OperatorError(
            f"DATABASE_URL={without_password(url)} cannot be understood. Write postgres://user@host/name."
        ) from None
    version = connection.info.server_version // 10000
    if version < OLDEST:
        connection.close()
        raise OperatorError(
            f"PostgreSQL at {without_password(url)} is version {version}; {OLDEST} or later is required. Upgrade it."
        )
    return connection


def check_redis(role: str, url: str) -> None:
    """Raises OperatorError when the Redis server of a role does not answer within 3 s."""
    import redis

    try:
        with redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as client:
            client.ping()
    except (redis.RedisError, OSError, ValueError) as error:
        raise OperatorError(
            f"Redis for {role} at {without_password(url)} does not answer: {error}. "
            f"Check REDIS_URL (or REDIS_{role.upper()}_URL) and that the server runs."
        ) from None
