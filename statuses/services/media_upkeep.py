"""Maintenance of the media storage: measures it, removes old copies and finds files to which no row refers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Model

from accounts.copies.models import CopyState, RemoteCopy
from accounts.copies.services import copying as remote_copies
from accounts.copies.services import removal as copy_removal
from accounts.emojis.models import CustomEmoji
from accounts.emojis.services import packs as emoji_packs
from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services import audit
from social.kernel import clock
from social.kernel.batches import in_batches
from social.kernel.media import storage
from statuses.models import MediaAttachment, PreviewCard
from statuses.services.cards import FOLDER as CARDS_FOLDER
from statuses.services.media import FOLDER, remove_unattached

Progress = Callable[[int, int], None]
"""Callback that is called with the number of files removed so far, and their size in bytes."""

YOUNGEST_AGE: Final = timedelta(days=1)
"""Minimum age of files to be removed, because a younger file may belong to a row that is being written."""
_BATCH_SIZE: Final = 200
_ROWS_PER_READ: Final = 2000


@dataclass(frozen=True)
class _Holding:
    """A folder of the media storage, and the columns that refer to its files."""

    folder: str
    model: type[Model]
    columns: tuple[str, ...]

    def paths(self) -> Iterator[str]:
        rows = self.model._default_manager.values_list(*self.columns).order_by()
        return (path for row in rows.iterator(chunk_size=_ROWS_PER_READ) for path in row if path)


#: Files in other folders are never removed, because it is unknown which rows refer to them.
HOLDINGS: Final = (
    _Holding("accounts", Account, ("avatar", "avatar_static", "header", "header_static")),
    _Holding(emoji_packs.FOLDER, CustomEmoji, ("image", "static_image")),
    _Holding(FOLDER, MediaAttachment, ("file", "preview", "source")),
    _Holding(CARDS_FOLDER, PreviewCard, ("image",)),
    _Holding(remote_copies.FOLDER, RemoteCopy, ("file", "preview")),
)


@dataclass
class Pruned:
    """Result of `prune_media`: the number and total size of files to which no row refers, the number of expired unattached
    files and of copies without a file, and the ids of attachments whose file is lost.
    """

    files: int = 0
    bytes: int = 0
    unattached: int = 0
    copies: int = 0
    lost: list[int] = field(default_factory=list)


def remove_old_copies(
    *, by: Staff, age: timedelta, host: str | None = None, progress: Progress | None = None
) -> tuple[int, int]:
    """Remove copies of remote files (from one `host`, or all) that nobody has requested for `age`, and write an audit row.
    Return the number of copies and their size in bytes. The files are fetched again on request. The removal can be interrupted
    and called again. Raises Forbidden.
    """
    require(by, Permission.MANAGE_SETTINGS)
    removed, freed = copy_removal.remove_copies(served_before=clock.now() - age, host=host, progress=progress)
    _record(by, "remove", host or "", files=removed, bytes=freed, days=age.days)
    return removed, freed


def forget_failures(*, by: Staff, host: str | None = None) -> int:
    """Clear the failures of remote files (from one `host` or all), write an audit row, return how many. Raises Forbidden."""
    require(by, Permission.MANAGE_SETTINGS)
    rows = RemoteCopy.objects.filter(state=CopyState.FAILED)
    with transaction.atomic():
        count, _by_model = (rows.filter(host=host.lower()) if host else rows).delete()
        _record(by, "refresh", host or "", files=count)
    return count


def prune_media(*, by: Staff, dry_run: bool = False, progress: Progress | None = None) -> Pruned:
    """Remove stored files older than YOUNGEST_AGE to which no row refers, rows of copies whose file is lost, and expired
    unattached files, and write an audit row. With `dry_run`, only count. Attachments whose file is lost are only listed. Needs
    a little more than 8 bytes of memory for each stored file. Raises Forbidden.
    """
    require(by, Permission.MANAGE_SETTINGS)
    pruned = Pruned()
    if not dry_run:
        pruned.unattached = remove_unattached()
    for holding in HOLDINGS:
        stored = _prune_folder(holding, pruned, dry_run=dry_run, progress=progress)
        if holding.model is RemoteCopy:
            pruned.copies = _forget_lost_copies(stored, dry_run=dry_run)
        elif holding.model is MediaAttachment:
            pruned.lost = _lost_attachments(stored)
    if not dry_run:
        counts = {name: getattr(pruned, name) for name in ("files", "bytes", "copies", "unattached")}
        _record(by, "prune", "", **counts)
    return pruned


def _record(by: Staff, action: str, name: str, **details: Any) -> None:
    with transaction.atomic():
        audit.record(by=by, action=action, target_type="Media", target_id=0, target_name=name, **details)


def _prune_folder(holding: _Holding, pruned: Pruned, *, dry_run: bool, progress: Progress | None) -> set[int]:
    # Returns the hashes of all stored paths of the folder.
    path_hashes = {hash(path) for path in holding.paths()}
    youngest = clock.now() - YOUNGEST_AGE
    stored: set[int] = set()

    def orphans() -> Iterator[tuple[str, int]]:
        for path, size, written_at in storage.walk(holding.folder):
            stored.add(hash(path))
            if hash(path) not in path_hashes and written_at < youngest:
                yield path, size

    for batch in in_batches(orphans(), _BATCH_SIZE):
        if not dry_run:
            storage.remove(*(path for path, _size in batch))
        pruned.files += len(batch)
        pruned.bytes += sum(size for _path, size in batch)
        if progress is not None:
            progress(pruned.files, pruned.bytes)
    return stored


def _forget_lost_copies(stored: set[int], *, dry_run: bool) -> int:
    ready = RemoteCopy.objects.filter(state=CopyState.READY, requested_at__lt=clock.now() - YOUNGEST_AGE)
    rows = ready.values_list("id", "file", "preview").order_by().iterator(chunk_size=_ROWS_PER_READ)
    lost = [number for number, *paths in rows if _is_lost(paths, stored)]
    if not dry_run:
        for batch in in_batches(lost, _BATCH_SIZE):
            RemoteCopy.objects.filter(id__one_of=batch).delete()
    return len(lost)


def _lost_attachments(stored: set[int]) -> list[int]:
    old = MediaAttachment.objects.filter(created_at__lt=clock.now() - YOUNGEST_AGE)
    rows = old.values_list("id", "file", "preview", "source").order_by("id").iterator(chunk_size=_ROWS_PER_READ)
    return [number for number, *paths in rows if _is_lost(paths, stored)]


def _is_lost(paths: Iterable[str], stored: set[int]) -> bool:
    # The storage is checked again, because the walk may have taken an hour.
    return any(path and hash(path) not in stored and not storage.exists(path) for path in paths)


def measure_storage() -> list[tuple[str, int, int]]:
    """Return each known folder of the media storage with the number and total size of its files; reads the whole storage."""
    measured = []
    for holding in HOLDINGS:
        sizes = [size for _path, size, _written in storage.walk(holding.folder)]
        measured.append((holding.folder, len(sizes), sum(sizes)))
    return measured
