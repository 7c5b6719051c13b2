"""Restores a backup into an empty server, or in place of an existing one, completely or not at all.

The data directory is marked before anything is changed, and the server does not start in a marked one. Files have unique
names, so adding them replaces no other file. The database is emptied and loaded in one transaction (`sql`). A restore that
was killed must be run again, from the beginning.
"""

import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import redis
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db.migrations.loader import MigrationLoader

from social import __version__
from social.kernel.media import storage
from social.runtime import database, secrets_file, unfinished
from social.runtime.backups import archive
from social.runtime.backups.archive import Advance, Manifest, Report
from social.runtime.backups.schema import make_schema
from social.runtime.backups.sql import Schema, Undecided, load, read
from social.runtime.datadir import check_room
from social.runtime.failures import OperatorError
from social.runtime.fingerprints import check_pair
from social.runtime.options import store_start
from social.settings import env
from social.settings.secrets import parse_secrets

_NAME: Final = "The restore"
_CLOSING_SECONDS: Final = 3.0
_TABLES: Final = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
_OTHERS: Final = """
SELECT count(*) FROM pg_stat_activity
 WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
"""


SKIPPED_NUMBERS: Final = 1_000_000
"""Numbers skipped in each sequence: more than a server uses between a backup and its restore."""
_MOVE_ON: Final = """
SELECT setval(format('%%I.%%I', schemaname, sequencename)::regclass, last_value + %s)
  FROM pg_sequences WHERE schemaname = 'public' AND data_type = 'bigint'::regtype AND last_value IS NOT NULL
"""


@dataclass
class Target:
    """State of the server to be restored: the data that it holds, and whether an earlier restore was interrupted."""

    tables: int
    domain: str | None
    secrets: bool
    interrupted: bool

    @property
    def is_empty(self) -> bool:
        """Tell whether the server holds no data that a restore would replace."""
        return not (self.tables or self.secrets)


def look(*, alone: bool) -> Target:
    """Return the state of the server. Raises OperatorError if an operation other than a restore was interrupted here, and
    with `alone` if other processes use the database.
    """
    unfinished.refuse_unfinished(env.DATA_DIR, but=_NAME)
    with database.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        # Wait for other connections to end: one that was just closed is still listed for a moment.
        deadline = time.monotonic() + _CLOSING_SECONDS
        while alone and (others := (cursor.execute(_OTHERS).fetchone() or (0,))[0]) and time.monotonic() < deadline:
            time.sleep(0.1)
        if alone and others:
            raise OperatorError(
                f"{others} connections to the database are open. Stop the server on every machine, and other commands."
            )
        (tables,) = cursor.execute(_TABLES).fetchone() or (0,)
        domain = database.stored_domain(cursor)
    secrets = (env.DATA_DIR / archive.SECRETS).exists()
    return Target(tables, domain, secrets, unfinished.find_mark(env.DATA_DIR) is not None)


def check(folder: Path, manifest: Manifest, target: Target, *, replace: bool) -> None:
    """Raise OperatorError if this backup may not be restored here. Nothing is changed."""
    configured = os.environ.get("LOCAL_DOMAIN") or target.domain
    for domain in (configured, target.domain):
        if domain is not None and domain != manifest.domain:
            raise OperatorError(
                f"This is a backup of {manifest.domain}, and this server is {domain}. "
                f"Give it a data directory and a database of its own, or unset LOCAL_DOMAIN."
            )
    if not (target.is_empty or target.interrupted or replace):
        raise OperatorError(
            f"A server is set up in {env.DATA_DIR}. To replace everything in its database by the backup, say --force."
        )
    _refuse_newer(manifest, set(manifest.migrations))
    stored = _stored_secrets(folder)
    if wrong := [name for name in _given_secrets() if os.environ[name].strip() != stored.get(name)]:
        raise OperatorError(f"{' and '.join(wrong)} in the environment are not those of the backup. Unset them.")
    if manifest.media != "included" and storage.is_local():
        raise OperatorError("The files of this backup are in an object storage: set MEDIA_STORAGE as it was.")
    check_room(env.DATA_DIR, manifest.database_bytes + manifest.bytes)


def _refuse_newer(manifest: Manifest, migrations: set[str]) -> None:
    known = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if newer := sorted(migrations - known):
        raise OperatorError(
            f"The backup was taken by a newer release ({manifest.version}; this is {__version__}, which lacks {newer[0]}). "
            f"Restore it with that one."
        )


def make_tables(folder: Path, manifest: Manifest, report: Report, *, ours_only: bool) -> Schema:
    """Return the schema into which the rows of a backup are loaded. The migrations create it; nothing in the dump is executed.

    Raises OperatorError for a dump with anything that the migrations do not create, such as functions or additional tables
    (security row 82). With `ours_only`, these are left out instead.
    """
    path = folder / archive.DATABASE
    with report("Reading", path.stat().st_size) as advance:
        dump = read(path, advance)
    _refuse_newer(manifest, {f"{app}.{name}" for app, name in dump.migrations})
    with report("Tables", None):
        schema = make_schema(dump.migrations)
    others = schema.find_unknown(dump)
    if others and not ours_only:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        raise OperatorError(
            f"{path} holds what no backup of this software has: {others[0][:80]!r}{more}. Nothing was executed and nothing "
            f"changed. If you have added this to the database yourself, leave it out: --ours-only."
        )
    return schema


def _given_secrets() -> list[str]:
    return [name for name in secrets_file.NAMES if name in os.environ and name not in secrets_file.temporary]


def _stored_secrets(folder: Path) -> dict[str, Any]:
    """Return the secrets of a backup. Raises OperatorError if a server could not run with them."""
    path = folder / archive.SECRETS
    try:
        found = dict(json.loads(path.read_text()).items())
        check_pair(parse_secrets(found, path, {}))
    except (OSError, ValueError, AttributeError, RecursionError, ImproperlyConfigured, OperatorError) as error:
        fault = str(error).partition(". ")[0]
        raise OperatorError(f"{path} is damaged ({fault}). Take another backup.") from None
    return found


def restore(folder: Path, manifest: Manifest, target: Target, schema: Schema, report: Report, *, again: str) -> None:
    """Restore a verified and checked backup. `again` is the command with which an interrupted restore is repeated.

    Raises OperatorError when files or database cannot be restored: an empty server is then still empty, and an existing one
    unchanged, unless the message says otherwise.
    """
    unfinished.begin(env.DATA_DIR, what=_NAME, remedy=again)
    try:
        with report("Files", manifest.bytes) as advance:
            _restore_files(folder, advance)
        with report("Database", (folder / archive.DATABASE).stat().st_size) as advance:
            load(os.environ["DATABASE_URL"], folder / archive.DATABASE, advance, schema)
    except (OSError, OperatorError) as error:
        if not (target.interrupted or isinstance(error, Undecided)):
            unfinished.end(env.DATA_DIR)
        if isinstance(error, OSError):
            raise OperatorError(f"{error.filename}: {error.strerror}. Check owner and free space.") from None
        raise
    # From here on, the database has the contents of the backup. After a failure, the mark stays and the restore must be
    # repeated.
    _advance_sequences()
    if len(_given_secrets()) < len(secrets_file.NAMES):
        secrets_file.replace_secrets(env.DATA_DIR, _stored_secrets(folder))
    _discard_old_caches()
    store_start(env.DATA_DIR, manifest.domain)
    os.sync()
    unfinished.end(env.DATA_DIR)


def _restore_files(folder: Path, advance: Advance) -> None:
    """Store every file at its original path. A file that exists already has the same content, since names are never reused."""
    for path, _digest in archive.entries(folder):
        source, stored = folder / path, path.removeprefix("media/")
        if path.startswith("private/"):
            _copy_file(source, env.DATA_DIR / path)
        elif stored != path and storage.is_local():
            _copy_file(source, Path(settings.MEDIA_ROOT) / stored)
        elif stored != path and not default_storage.exists(stored):
            with source.open("rb") as file:
                default_storage.save(stored, File(file, name=stored))
        advance(source.stat().st_size)


def _copy_file(source: Path, target: Path) -> None:
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished_file = target.with_name(f"{target.name}.part")
    shutil.copy2(source, unfinished_file)
    unfinished_file.replace(target)


def _advance_sequences() -> None:
    """Move sequences beyond the numbers that were used after the backup.

    Other servers may know ids (for example of likes) that contain such a number, and an id must never name two things.
    """
    with database.connect(os.environ["DATABASE_URL"]) as connection, connection.cursor() as cursor:
        cursor.execute(_MOVE_ON, [SKIPPED_NUMBERS])


def _discard_old_caches() -> None:
    """Empty Redis, whose caches and feeds belong to the previous rows, and make the next start check the tables again."""
    (env.DATA_DIR / "run" / "schema.json").unlink(missing_ok=True)
    for url in dict.fromkeys(env.REDIS_URLS.values()):
        with redis.Redis.from_url(url) as client:
            client.flushdb()
