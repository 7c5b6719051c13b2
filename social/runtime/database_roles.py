"""Roles of the embedded PostgreSQL: `social_admin`, the superuser of the cluster, and `social`, the role of all other
connections.

The role `social` owns the database and can neither run programs nor read files of the machine (security row 82). In
clusters of earlier releases, `social` was the superuser: it is renamed, and its objects are given to the new role.
"""

from collections.abc import Callable
from typing import Any, Final, LiteralString

import psycopg

from social.runtime.postgres import ADMIN

#: A superuser that exists while the superuser of an older cluster is renamed: no session can rename its own role.
_RENAMER: Final = "social_renamer"

_STATE: Final[LiteralString] = """
SELECT (SELECT rolname FROM pg_roles WHERE rolname = 'social'), (SELECT rolname FROM pg_roles WHERE rolname = 'social_renamer'),
       (SELECT datdba::regrole::text FROM pg_database WHERE datname = 'social')
"""
# One statement, so that the role never exists without its right to set deadlock_timeout, as migrations do.
_CREATE_ROLE: Final[LiteralString] = """
DO $$ BEGIN
  CREATE ROLE social LOGIN NOSUPERUSER;
  GRANT SET ON PARAMETER deadlock_timeout TO social;
END $$
"""
# The sequence of a column changes its owner with the table. Objects of PostgreSQL itself and of extensions keep their owner.
_GIVE: Final[LiteralString] = """
DO $$ DECLARE found record; BEGIN
  ALTER DATABASE social OWNER TO social;
  FOR found IN
    SELECT format('SCHEMA %I', nspname) AS name, 1 AS step, oid, tableoid FROM pg_namespace WHERE nspowner = 10
    UNION ALL
    SELECT format('TABLE %s', oid::regclass), CASE relkind WHEN 'S' THEN 3 ELSE 2 END, oid, tableoid FROM pg_class c
     WHERE relowner = 10 AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relnamespace <> 'pg_toast'::regnamespace
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = c.tableoid AND d.objid = c.oid
                          AND d.refclassid = c.tableoid AND d.deptype IN ('a', 'i') AND c.relkind = 'S')
    UNION ALL
    SELECT format('ROUTINE %s', oid::regprocedure), 4, oid, tableoid FROM pg_proc WHERE proowner = 10
    UNION ALL
    SELECT format('TYPE %s', oid::regtype), 5, oid, tableoid FROM pg_type
     WHERE typowner = 10 AND typrelid = 0 AND typtype IN ('d', 'e', 'r')
    ORDER BY step
  LOOP
    CONTINUE WHEN found.oid < 16384
      OR EXISTS (SELECT FROM pg_depend WHERE classid = found.tableoid AND objid = found.oid AND deptype = 'e');
    EXECUTE format('ALTER %s OWNER TO social', found.name);
  END LOOP;
END $$
"""


def prepare(conninfo: Callable[[str, str], str]) -> None:
    """Create the role and the database `social` if they are absent, and convert a cluster of an earlier release.

    `conninfo` returns the connection to a database for a role. If the process is killed meanwhile, the next call continues.
    """
    with _as_admin(conninfo) as admin:
        role, renamer, owner = admin.execute(_STATE).fetchone() or (None, None, None)
        if renamer:
            admin.execute(f"DROP ROLE {_RENAMER}")
        if not role:
            admin.execute(_CREATE_ROLE)
        if owner is None:
            admin.execute("CREATE DATABASE social OWNER social")
    if owner == ADMIN:
        with _connect(conninfo("social", ADMIN)) as inside:
            inside.execute(_GIVE)


def _as_admin(conninfo: Callable[[str, str], str]) -> psycopg.Connection[Any]:
    """Return a connection as the superuser. In a cluster of an earlier release, rename the superuser first."""
    try:
        return _connect(conninfo("postgres", ADMIN))
    except psycopg.OperationalError:  # any error but a wrong name is raised again by the next line
        former = _connect(conninfo("postgres", "social"))
    with former:
        if not former.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [_RENAMER]).fetchone():
            former.execute(f"CREATE ROLE {_RENAMER} SUPERUSER LOGIN")
    with _connect(conninfo("postgres", _RENAMER)) as renamer:
        renamer.execute(f"ALTER ROLE social RENAME TO {ADMIN}")
    return _connect(conninfo("postgres", ADMIN))


def _connect(conninfo: str) -> psycopg.Connection[Any]:
    return psycopg.connect(conninfo, autocommit=True)
