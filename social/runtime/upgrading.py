"""Upgrades the embedded PostgreSQL's data from an earlier major version: the old version dumps it, the new one loads it.

The new cluster is created beside the old one and takes its place when it is complete; the old cluster is kept until the
operator removes it.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from social.kernel.descriptors import sync_folder
from social.runtime import unfinished
from social.runtime.backups import archive
from social.runtime.backups.archive import Report
from social.runtime.backups.sql import dump, load
from social.runtime.datadir import check_room
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from social.runtime.postgres import FORMER_MAJORS, MAJOR, Postgres

_NAME: Final = "The upgrade of the database"
_DUMP: Final = "upgrade.sql.gz"
_NEW: Final = f"data.{MAJOR}"


class _Server(Embedded):
    """Embedded PostgreSQL of any version, without Valkey."""

    def __init__(self, postgres: Postgres) -> None:
        super().__init__(postgres.data_dir, valkey_wanted=False)
        self.postgres = postgres

    def prepare(self) -> None:
        """Prepare the folders and wait for an earlier server to end, without a check of the cluster's version."""
        self.postgres.prepare_folders()
        self.wait_for_former()


@contextlib.contextmanager
def _running(postgres: Postgres) -> Iterator[str]:
    """Start this PostgreSQL for the block, and return the URL of its database."""
    server = _Server(postgres)
    server.start()
    try:
        yield server.database_url
    finally:
        server.stop()


def find_former(data_dir: Path) -> list[Path]:
    """Return the folders of former clusters that upgrades have kept."""
    folder = Postgres(data_dir).folder
    return [path for major in FORMER_MAJORS if (path := folder / f"data.{major}").exists()]


def remove_former(data_dir: Path) -> list[Path]:
    """Remove the clusters of earlier versions and return their folders."""
    found = find_former(data_dir)
    for path in found:
        shutil.rmtree(path)
    return found


def major_of(data_dir: Path) -> str:
    """Return the major version of the cluster. Raises OperatorError if there is no cluster."""
    _complete_switch(Postgres(data_dir))
    cluster = Postgres(data_dir).cluster
    try:
        return (cluster / "PG_VERSION").read_text().strip()
    except OSError as error:
        raise OperatorError(f"{error.filename}: {error.strerror}. There is no database to upgrade.") from None


def upgrade(data_dir: Path, report: Report, *, again: str) -> Path:
    """Upgrade the cluster to the current version and return the folder of the old one.

    The caller has stopped and locked the servers. The old cluster is not changed before the new one is complete; an upgrade
    that is killed at any moment is repeated with the command `again`. Raises OperatorError if the upgrade fails.
    """
    former = major_of(data_dir)
    if former not in FORMER_MAJORS:
        raise OperatorError(
            f"The data is of PostgreSQL {former}; from {' and '.join(FORMER_MAJORS)} it can be upgraded."
        )
    old = Postgres(data_dir, install=FORMER_MAJORS[former])
    new = Postgres(data_dir, name=_NEW)
    size = sum(path.stat().st_size for path in old.cluster.rglob("*") if path.is_file())
    check_room(old.folder, 2 * size)
    kept = old.folder / f"data.{former}"
    if kept.exists():
        raise OperatorError(f"{kept} is there already: the data before an earlier upgrade. Move it away.")
    path = data_dir / "run" / _DUMP
    path.unlink(missing_ok=True)
    try:
        with _running(old) as url, report("Dump", None) as advance, dump(url) as source, path.open("xb") as target:
            archive.copy(source, target, advance)
        shutil.rmtree(new.cluster, ignore_errors=True)
        new.make_cluster()
        with _running(new) as url, report("Load", path.stat().st_size) as advance:
            load(url, path, advance)
    finally:
        path.unlink(missing_ok=True)
    unfinished.begin(data_dir, what=_NAME, remedy=again)
    old.cluster.rename(kept)
    _complete_switch(Postgres(data_dir))
    return kept


def _complete_switch(postgres: Postgres) -> None:
    """Put the complete new cluster in the place of the old one, even if an earlier attempt was killed halfway."""
    unfinished.refuse_unfinished(postgres.data_dir, but=_NAME)
    if unfinished.find_mark(postgres.data_dir) is None:
        return
    new = postgres.folder / _NEW
    if not postgres.cluster.exists() and new.exists():
        new.rename(postgres.cluster)
    sync_folder(postgres.folder)
    unfinished.end(postgres.data_dir)
