"""Checks of PostgreSQL and Redis before Django is loaded: connection, stored domain, current schema.

The domain is stored at the first start and never changed; a start with another domain is refused. To check the schema
in milliseconds, a start computes two digests: of the code's migrations and models, and of the database's applied
migrations and columns. It compares them with the digests that `manage.py setup` stored in `DATA_DIR/run/schema.json`
when it found both in agreement. Any later change of the database changes its digest.
"""

import hashlib
import json
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import psycopg

from social.runtime.failures import OperatorError
from social.settings import env
from social.settings.env import without_password

OLDEST_VERSION = 15
#: Options of a connection that belong to Django, not to libpq.
DJANGO_OPTIONS: Final = {"pool", "server_side_binding", "assume_role", "isolation_level"}


def parameters(url: str) -> dict[str, Any]:
    """Return libpq's connection parameters for a database URL."""
    config = env.database(url)
    options = {key: value for key, value in config.get("OPTIONS", {}).items() if key not in DJANGO_OPTIONS}
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return {name: config[key] or None for name, key in names.items()} | options


def connect(url: str) -> psycopg.Connection[Any]:
    """Return a connection in autocommit mode. Raises OperatorError if the server is too old or does not answer within 5 s."""
    try:
        connection: psycopg.Connection[Any] = psycopg.connect(connect_timeout=5, autocommit=True, **parameters(url))
    except psycopg.Error as error:
        reason = (
            str(error).strip().splitlines()[0].removeprefix("connection failed: ").removeprefix("connection is bad: ")
        )
        raise OperatorError(
            f"PostgreSQL at {without_password(url)} refuses us: {reason}. Check DATABASE_URL and that the server runs."
        ) from None
    except (ValueError, TypeError, KeyError):
        raise OperatorError(
            f"DATABASE_URL={without_password(url)} cannot be understood. Write postgres://user@host/name."
        ) from None
    version = connection.info.server_version // 10000
    if version < OLDEST_VERSION:
        connection.close()
        raise OperatorError(
            f"PostgreSQL at {without_password(url)} is version {version}; {OLDEST_VERSION} or later is required. Upgrade it."
        )
    return connection


def check_redis(role: str, url: str) -> None:
    """Raise OperatorError if the Redis server of a role does not answer within 3 s."""
    import redis

    try:
        with redis.Redis.from_url(url, socket_connect_timeout=3, socket_timeout=3) as client:
            client.ping()
    except (redis.AuthenticationError, redis.exceptions.NoPermissionError) as error:
        raise OperatorError(
            f"Redis for {role} at {without_password(url)} refuses the name or the password: {error}. "
            f"Check those in REDIS_URL (or REDIS_{role.upper()}_URL)."
        ) from None
    except (redis.RedisError, OSError, ValueError) as error:
        raise OperatorError(
            f"Redis for {role} at {without_password(url)} does not answer: {error}. "
            f"Check REDIS_URL (or REDIS_{role.upper()}_URL) and that the server runs."
        ) from None


TABLE = "social_installation"


class Cursor(Protocol):
    """Common part of Django's and psycopg's cursors: the queries of this module are run with and without Django."""

    def execute(self, sql: Any, params: Any = ..., /) -> Any: ...

    def fetchone(self) -> Any: ...


def stored_installation(cursor: Cursor) -> dict[str, Any]:
    """Return the row of this installation; empty before the first start. Columns that a later release added may be missing."""
    cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [TABLE])
    row = cursor.fetchone()
    if not row or not row[0]:
        return {}
    cursor.execute(f"SELECT to_jsonb(found)::text FROM {TABLE} found WHERE id = 1")  # noqa: S608  (a constant)
    found = cursor.fetchone()
    return dict(json.loads(found[0])) if found else {}


def stored_domain(cursor: Cursor) -> str | None:
    """Return the local domain for which this database was made; None before the first start."""
    return stored_installation(cursor).get("local_domain")


def check_domain(cursor: Cursor, domain: str) -> bool:
    """Tell whether a domain is stored. Raises OperatorError if the stored domain is not `domain` or, before the
    first start, if `domain` or WEB_DOMAIN has a port that is not allowed.
    """
    stored = stored_domain(cursor)
    if stored is None:
        _check_port("LOCAL_DOMAIN", domain)
        _check_port("WEB_DOMAIN", env.WEB_DOMAIN)
    if stored is not None and stored != domain:
        raise OperatorError(
            f"This installation is {stored} for ever (its name is in every address given out), not {domain}. "
            f"Start it with --domain {stored} (a port that is part of it stays part of it: only where the server listens "
            f"is up to --port), or give {domain} its own DATA_DIR or DATABASE_URL."
        )
    return stored is not None


def _check_port(name: str, domain: str) -> None:
    """Raise OperatorError for a domain with a port, unless only this machine can reach it.

    The port would be part of ids and addresses for ever. Other servers leave out `:443`, and would see different ids.
    """
    host, colon, _port = domain.rpartition(":")
    if colon and not domain.endswith("]") and not env.is_loopback(domain):
        raise OperatorError(
            f"{name}={domain} has a port, which would be in every address and id for ever. Set {name}={host}, with a proxy "
            f"that answers at the usual port of HTTPS. Only a trial on this machine has a port, as in localhost:8000."
        )


def check_web_domain(cursor: Cursor, web_domain: str) -> None:
    """Raise OperatorError if the server was last started with another WEB_DOMAIN: the domain in ids can never change."""
    stored = stored_installation(cursor).get("web_domain")
    if stored is not None and stored != web_domain:
        raise OperatorError(
            f"The server was started with its pages at {stored}, and WEB_DOMAIN is {web_domain} here: what is made here "
            f"would have other ids for ever. Set WEB_DOMAIN={stored}, or start the server with WEB_DOMAIN={web_domain}; "
            f"where its processes run on their own, {env.manage_command('setup')} with it comes first"
        )


def store_domain(cursor: Cursor, domain: str) -> None:
    """Store `domain` if no domain is stored. Raises OperatorError if another domain is stored."""
    cursor.execute(
        f"INSERT INTO {TABLE} (id, local_domain, fingerprints, created_at) "  # noqa: S608 (constants)
        "VALUES (1, %s, '{}', now()) ON CONFLICT (id) DO NOTHING",
        [domain],
    )
    check_domain(cursor, domain)


def store_web_domain(cursor: Cursor, web_domain: str) -> None:
    cursor.execute(f"UPDATE {TABLE} SET web_domain = %s WHERE id = 1", [web_domain])  # noqa: S608  (a constant)


_FILE = Path("run") / "schema.json"
_MARK = """
SELECT md5(concat(
  (SELECT string_agg(app || '.' || name, ',' ORDER BY app, name) FROM django_migrations),
  (SELECT string_agg(concat_ws(' ', c.relname, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.atthasdef), ','
                     ORDER BY c.relname, a.attname)
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'i', 'I') AND NOT a.attisdropped
      AND a.attnum > 0)))
"""


def code_mark(apps: Iterable[str]) -> str:
    """Return a digest of all files of migrations and models of the given INSTALLED_APPS."""
    digest = hashlib.sha256()
    for app in apps:
        folder = _folder(app)
        patterns = ("migrations/*.py", "models.py", "models/*.py")
        for path in sorted(path for pattern in patterns for path in folder.glob(pattern)) if folder else ():
            digest.update(f"{app}/{path.name}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _folder(app: str) -> Path | None:
    # Importing `django.contrib.admin` alone, to find its folder, takes a third of a second.
    top, *rest = app.split(".")
    spec = find_spec(top)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    for part in rest:
        if not (folder / part).is_dir():  # `accounts.apps.AccountsConfig` names the app `accounts`
            break
        folder /= part
    return folder


def refuse_older_tables(cursor: Cursor, apps: Iterable[str]) -> None:
    """Raise OperatorError if a migration of this code is not applied: after an upgrade, `setup` must be run first."""
    cursor.execute("SELECT string_agg(app || '.' || name, ' ') FROM django_migrations")
    applied = set(str((cursor.fetchone() or [""])[0]).split())
    for app in apps:
        folder = _folder(app)
        for path in sorted(folder.glob("migrations/[0-9]*.py")) if folder else ():
            if f"{path.parts[-3]}.{path.stem}" not in applied:
                raise OperatorError(
                    f"The tables are not those of this release: {path.parts[-3]}.{path.stem} is not applied. "
                    f"Run {env.manage_command('setup')}"
                )


def database_mark(cursor: Cursor) -> str:
    """Return a digest of the applied migrations and of all columns; empty for a new database."""
    cursor.execute("SELECT to_regclass('django_migrations') IS NOT NULL")
    row = cursor.fetchone()
    if not row or not row[0]:
        return ""
    cursor.execute(_MARK)
    row = cursor.fetchone()
    return str(row[0]) if row else ""


def is_schema_current(cursor: Cursor, data_dir: Path, apps: Iterable[str]) -> bool:
    """Tell whether the tables are known to match the models of this code; False if they were never compared."""
    try:
        noted = json.loads((data_dir / _FILE).read_text())
    except (OSError, ValueError):
        return False
    return isinstance(noted, dict) and noted == {"code": code_mark(apps), "database": database_mark(cursor)}


def note_schema(cursor: Cursor, data_dir: Path, apps: Iterable[str]) -> None:
    """Record that the tables match the models of this code. Call it after a complete `migrate` and `tables.check_tables`."""
    path = data_dir / _FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps({"code": code_mark(apps), "database": database_mark(cursor)}))
    temporary.rename(path)
