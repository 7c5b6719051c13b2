"""The domain of an installation: stored at the first start and never changed; another one is refused."""

from __future__ import annotations

from typing import Any, Protocol

from social.runtime.failures import OperatorError

TABLE = "social_installation"


class Cursor(Protocol):
    """What Django's cursors and psycopg's have in common: the domain is asked for with and without Django."""

    def execute(self, sql: Any, params: Any = ..., /) -> Any:
        """Run one statement."""

    def fetchone(self) -> Any:
        """The next row."""


def stored_domain(cursor: Cursor) -> str | None:
    """The local domain this database was made for; None before the first start."""
    cursor.execute("SELECT to_regclass(%s) IS NOT NULL", [TABLE])
    row = cursor.fetchone()
    if not row or not row[0]:
        return None
    cursor.execute(f"SELECT local_domain FROM {TABLE} WHERE id = 1")  # noqa: S608  (a constant)
    found = cursor.fetchone()
    return str(found[0]) if found else None


def check_domain(cursor: Cursor, domain: str) -> bool:
    """Whether a domain is stored. Raises OperatorError when it is another one than `domain`."""
    stored = stored_domain(cursor)
    if stored is not None and stored != domain:
        raise OperatorError(
            f"This installation is {stored} for ever (its name is in every address given out), not {domain}. "
            f"Start it with --domain {stored} (a port that is part of it stays part of it: only where the server listens "
            f"is up to --port), or give {domain} its own --data-dir or DATABASE_URL."
        )
    return stored is not None


def keep_domain(cursor: Cursor, domain: str) -> None:
    """Store `domain` at the first start. Raises OperatorError when another one is stored."""
    cursor.execute(
        f"INSERT INTO {TABLE} (id, local_domain, fingerprints, created_at) "  # noqa: S608 (constants)
        "VALUES (1, %s, '{}', now()) ON CONFLICT (id) DO NOTHING",
        [domain],
    )
    check_domain(cursor, domain)
