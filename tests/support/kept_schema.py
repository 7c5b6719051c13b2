"""Caches the tables for the next test run: creating them with all migrations takes ten seconds of CPU time.

The cache is valid only for the same contents of all migrations. After a change, and in the first run, the migrations create the
tables as on any server.
"""

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

import django
import psycopg
from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from social.runtime.postgres import Postgres

FOLDER: Final = Path(__file__).resolve().parents[2] / "var" / "test-schema"
TEMPLATE: Final = "social_template"
_IMPORT: Final = re.compile(r"^(?:import|from) ((?:social|accounts|statuses|timelines|moderation)[\w.]*)", re.MULTILINE)


@cache
def fingerprint(version: str) -> str:
    """Return a digest of everything the tables depend on: PostgreSQL, Django, apps, migrations, and the modules they import."""
    sources = {sys.modules[one.__module__].__file__ for one in MigrationLoader(None).disk_migrations.values()}
    imported = {name for path in sources if path for name in _IMPORT.findall(Path(path).read_text())}
    sources |= {spec.origin for name in imported if (spec := importlib.util.find_spec(name)) is not None}
    # Sorted by content, because the installation's paths do not matter.
    contents = sorted(hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in sources if path)
    whole = f"{version} {django.__version__} {sorted(apps.app_configs)} {contents}"
    return hashlib.sha256(whole.encode()).hexdigest()[:32]


def load(postgres: Postgres) -> None:
    """Create the test database from the cached tables, if they are current."""
    if not _path(postgres).exists():
        return
    with psycopg.connect(postgres.conninfo(), autocommit=True) as server:
        server.execute(f"CREATE DATABASE {TEMPLATE}")
    fill(postgres, TEMPLATE)
    connection.settings_dict["TEST"]["TEMPLATE"] = TEMPLATE


def fill(postgres: Postgres, database: str = "social") -> None:
    """Create the cached tables in an empty database, if there are any; the next `setup` applies missing migrations."""
    path = _path(postgres)
    if path.exists():
        options = ("-q", "-X", "-v", "ON_ERROR_STOP=1")
        _run(postgres, "psql", *options, "-d", postgres.conninfo(database), "-f", str(path))


def keep(postgres: Postgres) -> None:
    """Cache the tables that were just created, unless they are cached already."""
    path = _path(postgres)
    if path.exists():
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.sql"):
        if old != path:
            old.unlink(missing_ok=True)
    made = path.with_suffix(f".{os.getpid()}")  # another process may write the cache at the same time
    name = str(connection.settings_dict["NAME"])
    _run(postgres, "pg_dump", "--no-owner", "-d", postgres.conninfo(name), "-f", str(made))
    made.replace(path)


def _path(postgres: Postgres) -> Path:
    with psycopg.connect(postgres.conninfo()) as server:
        return FOLDER / f"{fingerprint(str(server.info.server_version))}.sql"


def _run(postgres: Postgres, program: str, *arguments: str) -> None:
    subprocess.run([postgres.binaries() / program, *arguments], check=True, stdout=subprocess.DEVNULL)
