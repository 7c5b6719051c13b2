"""Takes a backup: first the database in one snapshot, then the files, so that no row lacks its file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from accounts.models import RemoteCopy
from accounts.models.remote import CopyFetch
from accounts.queries.site_settings import BACKUP_SETTING
from accounts.services import remote_copies
from accounts.services.audit import write_setting
from social import __version__
from social.kernel.media import storage
from social.runtime.backups import archive
from social.runtime.backups.archive import Entry, Manifest, Report
from social.runtime.backups.sql import dump
from social.runtime.database import stored_domain
from social.runtime.datadir import holder, try_lock
from social.runtime.failures import OperatorError
from social.runtime.unfinished import sync_folder

_PRIVATE: Final = "private"
_MEDIA: Final = "media"


@dataclass(frozen=True)
class Plan:
    """Contents of a planned backup. `bytes` is its greatest possible size."""

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
    sizes = [size for _path, size in _media_files(with_media)] + [path.stat().st_size for path in _private_files()]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (database_bytes,) = cursor.fetchone()
    found = Plan(folder, with_media, len(sizes), sum(sizes) + database_bytes, database_bytes)
    _check_room(found)
    return found


def _check_room(found: Plan) -> None:
    near = next(parent for parent in found.folder.parents if parent.exists())
    free = shutil.disk_usage(near).free
    if free < found.bytes:
        raise OperatorError(
            f"The backup takes up to {found.bytes >> 20} MB, and {free >> 20} MB are free at {near}. "
            f"Name a folder on another disk with --output."
        )


def save(found: Plan, report: Report) -> Manifest:
    """Take the backup, also while the server runs. The folder gets its final name when all its files are on the disk.

    Files that are deleted meanwhile are left out. Raises OperatorError when something fails; the folder is then removed.
    """
    partial = found.folder.with_name(found.folder.name + archive.PARTIAL)
    with _sole():
        shutil.rmtree(partial, ignore_errors=True)
        try:
            partial.mkdir(parents=True, mode=0o700)
            with _own(partial):
                manifest = _fill(partial, found, report)
                os.sync()
                partial.rename(found.folder)
            (found.folder / archive.LOCK).unlink()
            sync_folder(found.folder.parent)
            write_setting(BACKUP_SETTING, manifest.created_at)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise OperatorError(f"{error.filename or partial}: {error.strerror}. Check owner and free space.") from None
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    return manifest


def remove_interrupted(parent: Path) -> list[Path]:
    """Remove the folders that interrupted backups of this server, on any machine, have left in the folder `parent`
    (`archive.find_interrupted`). Returns the folders. Raises OperatorError if a backup is being taken or a folder
    cannot be removed.
    """
    with _sole():
        return [remove(folder) for folder in archive.find_interrupted(parent, settings.LOCAL_DOMAIN)]


def remove(folder: Path) -> Path:
    """Remove a backup and return its folder. Raises OperatorError when it cannot be removed."""
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise OperatorError(f"{error.filename}: {error.strerror}. Check the owner of {folder}.") from None
    return folder


def _sole() -> IO[str]:
    """Lock this data directory for one backup. Raises OperatorError while another backup has the lock."""
    path = settings.DATA_DIR / "run" / "backup.lock"
    lock = try_lock(path)
    if lock is None:
        raise OperatorError(f"Process {holder(path)} takes a backup of {settings.DATA_DIR} just now. Let it end.")
    return lock


def _own(partial: Path) -> IO[str]:
    lock = try_lock(partial / archive.LOCK)
    if lock is None:
        raise OperatorError(f"{partial} is being removed by another process. Try again.")
    return lock


def _fill(folder: Path, found: Plan, report: Report) -> Manifest:
    migrations = sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        major = int(cursor.fetchone()[0]) // 10000
        domain = stored_domain(cursor)
    if domain is None:
        raise OperatorError("Nothing is set up in this database: there is nothing to back up.")
    with (folder / archive.CHECKSUMS).open("w") as lines:
        with report("Database", None) as advance:
            # A backup with media leaves out cached copies of remote files and their rows: they are fetched again on demand.
            without = [model._meta.db_table for model in (RemoteCopy, CopyFetch)] if found.with_media else []
            dump(os.environ["DATABASE_URL"], folder / archive.DATABASE, advance, without=without)
        _write_secrets(folder / archive.SECRETS)
        for name in (archive.DATABASE, archive.SECRETS):
            lines.write(Entry(name, archive.checksum(folder / name)).line())
        number, size = 2, sum((folder / name).stat().st_size for name in (archive.DATABASE, archive.SECRETS))
        with report("Files", found.bytes - found.database_bytes) as advance:
            for path, source in _sources(found.with_media):
                entry = _copy(path, source, folder, advance)
                lines.write(entry.line())
                number, size = number + 1, size + (folder / path).stat().st_size
    manifest = Manifest(
        format=archive.FORMAT,
        domain=domain,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        postgresql=major,
        database_bytes=found.database_bytes,
        media="included" if found.with_media else "object storage",
        files=number,
        bytes=size,
        checksums=archive.checksum(folder / archive.CHECKSUMS),
        migrations=migrations,
    )
    manifest.write(folder)
    return manifest


def _write_secrets(path: Path) -> None:
    secrets = settings.SECRETS
    values = {
        "SECRET_KEY": secrets.secret_key,
        "VAPID_PRIVATE_KEY": secrets.vapid_private_key,
        "VAPID_PUBLIC_KEY": secrets.vapid_public_key,
        "FIELD_ENCRYPTION_KEYS": ",".join(secrets.field_encryption_keys),
    }
    if secrets.secret_key_fallbacks:
        values["SECRET_KEY_FALLBACKS"] = ",".join(secrets.secret_key_fallbacks)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(values, file, indent=1)


def _media_files(with_media: bool) -> Iterator[tuple[str, int]]:
    """Yield the stored files with their sizes, except copies of remote files and files that are being written."""
    if not with_media:
        return
    for path, size, _written in storage.walk(""):
        if not path.startswith((f"{remote_copies.FOLDER}/", "doctor/")) and not path.endswith(".part"):
            yield path, size


def _private_files() -> Iterator[Path]:
    for place, _folders, names in os.walk(settings.PRIVATE_ROOT):
        for name in names:
            yield Path(place) / name


def _sources(with_media: bool) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield every file, open, with its name in the backup; files that were deleted meanwhile are left out."""
    for path, _size in _media_files(with_media):
        try:
            with storage.opened(path) as source:
                yield f"{_MEDIA}/{path}", source
        except FileNotFoundError:
            continue
    for file in _private_files():
        try:
            with file.open("rb") as source:
                yield f"{_PRIVATE}/{file.relative_to(settings.PRIVATE_ROOT)}", source
        except FileNotFoundError:
            continue


def _copy(path: str, source: IO[bytes], folder: Path, advance: archive.Advance) -> Entry:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    with (folder / path).open("xb") as target:
        return Entry(path, archive.copy(source, target, advance))
