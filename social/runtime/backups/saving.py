"""Takes a backup: first the database in one snapshot, then the files, so that no row lacks its file."""

import contextlib
import fcntl
import io
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from django.conf import settings
from django.db import Error, connection
from django.db.migrations.recorder import MigrationRecorder

from accounts.copies.models import CopyFetch, RemoteCopy
from accounts.copies.services import copying as remote_copies
from accounts.queries.site_settings import BACKUP_SETTING
from accounts.services.audit import write_setting
from social import __version__
from social.kernel.descriptors import sync_folder
from social.kernel.media import storage
from social.runtime.backups import archive
from social.runtime.backups.archive import Manifest, Report
from social.runtime.backups.sql import dump
from social.runtime.database import stored_domain
from social.runtime.datadir import check_room, holder, try_lock
from social.runtime.failures import OperatorError


@dataclass(frozen=True)
class Plan:
    """Contents of a planned backup. `bytes` is its maximum possible size."""

    folder: Path
    with_media: bool
    files: int
    bytes: int
    database_bytes: int


def plan(folder: Path, *, with_media: bool) -> Plan:
    """Plan a backup. `with_media` includes the files of an object storage; files in a local folder are always included.
    Raises OperatorError if `folder` exists or its disk has too little free space.
    """
    if folder.exists():
        raise OperatorError(f"{folder} is there already. Name another folder.")
    with_media = with_media or storage.is_local()
    sizes = [size for _path, size in _files(with_media)]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (database_bytes,) = cursor.fetchone()
    found = Plan(folder, with_media, len(sizes), sum(sizes) + database_bytes, database_bytes)
    check_room(folder.parent, found.bytes, elsewhere="name a folder on another disk with --output")
    return found


def save(found: Plan, report: Report) -> Manifest:
    """Take the backup; the server may be running. The folder gets its final name when all its files are on the disk.

    Files that are deleted meanwhile are left out. Raises OperatorError when something fails; the folder is then removed,
    unless the message says that it is complete.
    """
    partial = found.folder.with_name(found.folder.name + archive.PARTIAL)
    with _lock_for_backup():
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir(parents=True, mode=0o700)
            with (partial / archive.CHECKSUMS).open("x") as lines:
                fcntl.flock(lines, fcntl.LOCK_EX)
                manifest = _fill(partial, lines, found, report)
                os.sync()
                partial.rename(found.folder)
        except BaseException as error:
            shutil.rmtree(partial, ignore_errors=True)
            if isinstance(error, OSError):
                where = error.filename or partial
                raise OperatorError(f"{where}: {error.strerror}. Check owner and free space.") from None
            raise
        try:
            sync_folder(found.folder.parent)
            write_setting(BACKUP_SETTING, manifest.created_at)
        except (OSError, Error) as error:
            raise OperatorError(f"{found.folder} is complete, but its time could not be stored: {error}") from None
    return manifest


def remove_interrupted(parent: Path) -> list[Path]:
    """Remove the folders that interrupted backups of this server, on any machine, have left in the folder `parent`, and
    return them. Raises OperatorError if a backup is being taken.
    """
    with _lock_for_backup():
        found = archive.find_interrupted(parent, settings.LOCAL_DOMAIN)
        for folder in found:
            shutil.rmtree(folder)
        return found


def _lock_for_backup() -> IO[str]:
    """Lock this data directory for one backup. Raises OperatorError while another backup has the lock."""
    path = settings.DATA_DIR / "run" / "backup.lock"
    if (lock := try_lock(path)) is None:
        raise OperatorError(f"Process {holder(path)} takes a backup of {settings.DATA_DIR} just now. Let it end.")
    return lock


def _fill(folder: Path, lines: IO[str], found: Plan, report: Report) -> Manifest:
    """Write all files of a backup, and their checksums to `lines`."""
    migrations = sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())
    with connection.cursor() as cursor:
        domain = stored_domain(cursor)
    if domain is None:
        raise OperatorError("Nothing is set up in this database: there is nothing to back up.")
    sizes: list[int] = []

    def add(path: str, source: IO[bytes], advance: archive.Advance | None = None) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("wb") as target:
            lines.write(f"{archive.copy(source, target, advance)}  {path}\n")
            sizes.append(target.tell())

    # A backup with media leaves out cached copies of remote files and their rows, because the files are fetched again on
    # demand.
    without = [model._meta.db_table for model in (RemoteCopy, CopyFetch)] if found.with_media else []
    for path in (archive.DATABASE, archive.SECRETS):
        (folder / path).touch(mode=0o600)
    with report("Database", None) as advance, dump(os.environ["DATABASE_URL"], without=without) as source:
        add(archive.DATABASE, source, advance)
    add(archive.SECRETS, io.BytesIO(json.dumps(_secrets(), indent=1).encode()))
    with report("Files", found.bytes - found.database_bytes) as advance:
        for path, _size in _files(found.with_media):
            with contextlib.suppress(FileNotFoundError), _open(path) as source:
                add(path, source, advance)
    lines.flush()
    manifest = Manifest(
        format=archive.FORMAT,
        domain=domain,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        postgresql=connection.get_database_version()[0],
        database_bytes=found.database_bytes,
        media="included" if found.with_media else "object storage",
        files=len(sizes),
        bytes=sum(sizes),
        checksums=archive.checksum(folder / archive.CHECKSUMS),
        migrations=migrations,
    )
    manifest.write(folder)
    return manifest


def _secrets() -> dict[str, str]:
    """Return the secrets in use, including those from the environment, in the format of `secrets.json`."""
    secrets = settings.SECRETS
    values = {
        "SECRET_KEY": secrets.secret_key,
        "VAPID_PRIVATE_KEY": secrets.vapid_private_key,
        "VAPID_PUBLIC_KEY": secrets.vapid_public_key,
        "FIELD_ENCRYPTION_KEYS": ",".join(secrets.field_encryption_keys),
        "SECRET_KEY_FALLBACKS": ",".join(secrets.secret_key_fallbacks),
    }
    return {name: value for name, value in values.items() if value}


def _files(with_media: bool) -> Iterator[tuple[str, int]]:
    """Yield the name in the backup and the size of each file. Leave out copies of remote files, files that are being written,
    and files that were just deleted.
    """
    for path, size, _written in storage.walk("") if with_media else ():
        if not path.startswith((f"{remote_copies.FOLDER}/", "doctor/")) and not path.endswith(".part"):
            yield f"media/{path}", size
    for place, _folders, names in os.walk(settings.PRIVATE_ROOT):
        for file in (Path(place, name) for name in names):
            with contextlib.suppress(FileNotFoundError):
                yield f"private/{file.relative_to(settings.PRIVATE_ROOT)}", file.stat().st_size


def _open(path: str) -> contextlib.AbstractContextManager[IO[bytes]]:
    """Open the file that has this name in a backup."""
    folder, _slash, name = path.partition("/")
    return storage.open_stored(name) if folder == "media" else Path(settings.PRIVATE_ROOT, name).open("rb")
