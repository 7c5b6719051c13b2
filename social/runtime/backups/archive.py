"""Format of a backup: a folder with `manifest.json`, `checksums.sha256`, `database.sql.gz`, `secrets.json`, `media` and
`private`.

`checksums.sha256` has the format of `sha256sum -c`, and the manifest holds the checksum of that file. Until the backup is
complete, the name of the folder ends with `.partial`, and the process that takes the backup holds a lock on `checksums.sha256`.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from social.kernel.releases import known_fields
from social.runtime.datadir import is_locked
from social.runtime.failures import OperatorError
from social.settings import env

FORMAT: Final = 1
MANIFEST, CHECKSUMS, DATABASE, SECRETS = "manifest.json", "checksums.sha256", "database.sql.gz", "secrets.json"
FOLDERS: Final = ("media", "private")
PARTIAL: Final = ".partial"
CHUNK: Final = 1 << 20

Advance = Callable[[int], None]  # function to be called with the number of bytes done since its last call
Report = Callable[[str, int | None], AbstractContextManager[Advance]]
"""Function that shows the progress of a step: takes its name and its total in bytes, or None if that is unknown."""


@dataclass(frozen=True)
class Manifest:
    """Description of a backup. `media` says where the files are: `included` or `object storage`. `migrations` are those
    applied to the database, and `database_bytes` is its size.
    """

    format: int
    domain: str
    created_at: str
    version: str
    postgresql: int
    database_bytes: int
    media: str
    files: int
    bytes: int
    checksums: str
    migrations: list[str]

    def check(self) -> None:
        """Raise ValueError for a value that no backup can have, because the values are printed, compared, and used in URLs."""
        for name, kind in self.__annotations__.items():
            value = getattr(self, name)
            texts = value if kind == list[str] else [value]
            if kind is int:
                fine = type(value) is int and 0 <= value < 2**63
            else:
                fine = isinstance(texts, list) and all(isinstance(text, str) and text.isprintable() for text in texts)
            if not fine:
                raise ValueError(f"{name} is {value!r:.60}")
        if not env.is_domain(self.domain):
            raise ValueError(f"domain is {self.domain!r:.60}")

    def write(self, folder: Path) -> None:
        (folder / MANIFEST).write_text(json.dumps(asdict(self), indent=1) + "\n")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup.

    Raises OperatorError for a folder that is not a backup, for a backup from a newer release, and if the manifest or the
    checksums are not files.
    """
    if folder.name.endswith(PARTIAL):
        raise OperatorError(f"{folder} was not completed: the backup was interrupted. Take another one.")
    for path in (folder / MANIFEST, folder / CHECKSUMS):
        # Devices and pipes are refused as well as links, because reading them might never end (security row 82).
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OperatorError(f"{path} is a link, or no file, which no backup has. Take another backup.")
    try:
        values: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
        if values.get("format") != FORMAT:
            raise OperatorError(f"{folder} has a format that this release does not know. Restore it with a newer one.")
        manifest = Manifest(**known_fields(Manifest, values))
        manifest.check()
        return manifest
    except OSError as error:
        raise OperatorError(f"{folder} is no backup: {error.filename}: {error.strerror}. Name its folder.") from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise OperatorError(f"{folder / MANIFEST} is damaged ({error}). Take another backup.") from None


def name_of(domain: str, moment: datetime) -> str:
    """Return the default name of a backup's folder: domain and time (UTC)."""
    return f"{domain.replace(':', '_')}-{moment:%Y%m%dT%H%M%SZ}"


def find_interrupted(parent: Path, domain: str) -> list[Path]:
    """Return the folders in `parent` that interrupted backups of this domain have left. A folder whose backup is still being
    taken is not returned, nor is one whose name is not made by `name_of`.
    """
    name = re.compile(rf"{re.escape(domain.replace(':', '_'))}-\d{{8}}T\d{{6}}Z{re.escape(PARTIAL)}", re.ASCII)
    return sorted(
        path for path in parent.glob(f"*{PARTIAL}") if name.fullmatch(path.name) and not is_locked(path / CHECKSUMS)
    )


def find_older(parent: Path, domain: str, *, keep: int) -> list[Path]:
    """Return the complete backups of this domain in the folder `parent`, except the `keep` newest."""
    found = []
    for path in parent.glob(f"*/{MANIFEST}"):
        with suppress(OperatorError):
            manifest = read_manifest(path.parent)
            if manifest.domain == domain:
                found.append((manifest.created_at, path.parent))
    return [folder for _time, folder in sorted(found, reverse=True)[keep:]]


def entries(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the digest of each file that a backup lists. Raises OperatorError for a damaged list."""
    with (folder / CHECKSUMS).open() as lines:
        for line in lines:
            digest, _, path = line.rstrip("\n").partition("  ")
            pure = PurePosixPath(path)
            below = len(pure.parts) > 1 and pure.parts[0] in FOLDERS and ".." not in pure.parts and str(pure) == path
            # Files with other names are not restored (security row 82).
            if len(digest) != 64 or not (below or path in (DATABASE, SECRETS)):
                raise OperatorError(f"{folder / CHECKSUMS} is damaged: {path!r:.200} does not belong to a backup.")
            yield path, digest


def check_digest(folder: Path, digest: str) -> None:
    """Raise OperatorError unless the manifest of the backup still has the checksum that was printed when it was taken. The
    manifest contains the checksum of all checksums.
    """
    if (found := checksum(folder / MANIFEST)) != digest.strip().lower():
        raise OperatorError(
            f"{folder} was changed since it was taken: its digest is {found}. Nothing was changed here."
        )


def verify(folder: Path, report: Report) -> Manifest:
    """Read every file of a backup and compare it with its checksum; return the manifest. Raises OperatorError for the first
    file that is missing, is a link, or differs from its checksum.
    """
    manifest = read_manifest(folder)
    missing = {DATABASE, SECRETS}
    try:
        if checksum(folder / CHECKSUMS) != manifest.checksums:
            raise OperatorError(f"{folder / CHECKSUMS} is not the one of this backup. Take another backup.")
        with report("Checking", manifest.bytes) as advance:
            for path, digest in entries(folder):
                file = folder / path
                file.lstat()
                if file.resolve() != folder.resolve() / path or not file.is_file():
                    raise OperatorError(f"{file} is a link, or no file, which no backup has. Take another backup.")
                if checksum(file, advance) != digest:
                    raise OperatorError(f"{file} is not what was stored. Take another backup.")
                missing.discard(path)
    except OSError as error:
        raise OperatorError(f"{error.filename}: {error.strerror}. The backup is not whole; take another one.") from None
    if missing:
        raise OperatorError(f"{folder / CHECKSUMS} lacks {' and '.join(sorted(missing))}. Take another backup.")
    return manifest


def checksum(path: Path, advance: Advance | None = None) -> str:
    """Return the SHA-256 of a file, as hexadecimal digits."""
    with path.open("rb") as file:
        return copy(file, None, advance)


def copy(source: IO[bytes], target: IO[bytes] | None, advance: Advance | None = None) -> str:
    """Read the rest of the file `source`, copy it to `target` unless that is None, and return its SHA-256."""
    digest = hashlib.sha256()
    while chunk := source.read(CHUNK):
        digest.update(chunk)
        if target is not None:
            target.write(chunk)
        if advance is not None:
            advance(len(chunk))
    return digest.hexdigest()
