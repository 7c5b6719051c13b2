"""Builds archives, files with everything that an account has on this server, in steps that can be resumed.

Each app registers its parts at start: `register(ArchivePart(...))`. Source: security row 47.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import orjson
from allauth.socialaccount.models import SocialAccount
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.events import ArchiveDue, ArchiveReady
from accounts.identity.services.mails import Letter, send_all
from accounts.models import Account
from accounts.services import erasing
from accounts.transfers.models import Archive, ArchiveState
from accounts.transfers.policies import write_line
from accounts.transfers.services import archive_files
from accounts.transfers.services.past import remove_files_of
from accounts.transfers.services.portable_lists import all_lists
from social.kernel import clock, links
from social.kernel.errors import Conflict, NotFound
from social.kernel.events import publish
from social.kernel.locks import lock

REQUEST_INTERVAL: Final = timedelta(days=7)
"""Minimum time between two requests of an account."""
RETENTION: Final = timedelta(days=7)
"""Time for which a finished archive can be downloaded."""
ABANDONMENT_AGE: Final = timedelta(days=2)
"""Age from which an unfinished archive counts as abandoned."""
TURN_SECONDS: Final = 5.0
_LINES_PER_STEP: Final = 500


@dataclass(frozen=True)
class ArchivePart:
    """Part of an archive.

    `write` adds the data after a cursor (0: from the start), for about a second, and returns the next cursor, or None
    at the end. A step may be repeated from its cursor.
    """

    name: str
    write: Callable[[Account, int, archive_files.ArchiveWriter], int | None]


_parts: dict[str, ArchivePart] = {}
# The last part adds the documents that were written next to the archive.
_DOCUMENTS: Final = "documents"


def register(*parts: ArchivePart) -> None:
    """Register parts at the start of a process, in the order in which they are written. Raises ValueError for a name in use."""
    for part in parts:
        if _parts.setdefault(part.name, part) is not part:
            raise ValueError(f"There is a part {part.name} already.")


def next_archive_at(account: Account) -> datetime | None:
    """Return when the account may request an archive again; None if it may now."""
    last = Archive.objects.filter(account=account).order_by("-id").first()
    if last is None or _is_abandoned(last):
        return None
    moment = last.created_at + REQUEST_INTERVAL
    return moment if moment > clock.now() else None


def _is_abandoned(archive: Archive) -> bool:
    return archive.state == ArchiveState.BUILDING and archive.created_at < clock.now() - ABANDONMENT_AGE


def request_archive(*, account: Account) -> Archive:
    """Request an archive; earlier ones are removed. Raises Conflict before `next_archive_at`. Publishes ArchiveDue."""
    with transaction.atomic():
        lock(f"archive:{account.id}")
        if next_archive_at(account) is not None:
            raise Conflict(_("You can request one archive a week."))
        for earlier in Archive.objects.filter(account=account):
            _remove(earlier)
        archive = Archive.objects.create(account=account)
        publish(ArchiveDue(archive_id=archive.id))
    return archive


def find_archive_file(*, account: Account, archive_id: int) -> Path:
    """Return the file of an account's finished archive. Raises NotFound, also for another account's or an expired archive."""
    archives = Archive.objects.filter(id=archive_id, account=account, state=ArchiveState.READY)
    path = archive_files.folder_of(archive_id) / archive_files.ARCHIVE
    if not archives.filter(expires_at__gt=clock.now()).exists() or not path.exists():
        raise NotFound
    return path


def write_archives(events: Sequence[ArchiveDue]) -> None:
    """Handle ArchiveDue: write the archives."""
    for archive_id in dict.fromkeys(event.archive_id for event in events):
        write_archive(archive_id)


def write_archive(archive_id: int) -> None:
    """Spend at most TURN_SECONDS writing an archive. Publishes ArchiveReady, or ArchiveDue if there may be more steps.

    The archive of a deleted account is removed. Raises Unavailable while another process writes it.
    """
    with archive_files.locked(archive_files.folder_of(archive_id)):
        unfinished = _write_for(archive_id, TURN_SECONDS)
    if unfinished:
        with transaction.atomic():
            publish(ArchiveDue(archive_id=archive_id))


def _write_for(archive_id: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while True:
        # The row is read under the lock, so that it includes the changes that another process has made before.
        archive = Archive.objects.select_related("account").filter(id=archive_id).first()
        if archive is None:
            archive_files.remove_folder(archive_id)
            return False
        if archive.state != ArchiveState.BUILDING:
            return False
        if archive.account.deleted_at is not None:
            _remove(archive)
            return False
        _write_step(archive)
        if time.monotonic() >= end:
            return True


def _write_step(archive: Archive) -> None:
    names = [*_parts, _DOCUMENTS]
    name = archive.part or names[0]
    try:
        with archive_files.writing(archive.id, archive.files) as writer:
            if name == _DOCUMENTS:
                cursor = _write_document(writer)
            else:
                cursor = _parts[name].write(archive.account, archive.cursor, writer)
    except archive_files.FilesMissing:
        _save(archive, part="", cursor=0, files={})
        return
    if cursor is not None:
        _save(archive, part=name, cursor=cursor, files=writer.files)
    elif name != _DOCUMENTS:
        _save(archive, part=names[names.index(name) + 1], cursor=0, files=writer.files)
    else:
        _finish(archive, writer.files)


def _write_document(writer: archive_files.ArchiveWriter) -> int | None:
    waiting = sorted(set(writer.files) - {archive_files.ARCHIVE})
    if not waiting:
        writer.finish()
        return None
    writer.finish_document(waiting[0])
    return 1


def _save(archive: Archive, **values: object) -> bool:
    """Store the progress unless another process has stored progress meanwhile; return whether it was stored."""
    unchanged = Archive.objects.filter(id=archive.id, part=archive.part, cursor=archive.cursor)
    return unchanged.filter(state=ArchiveState.BUILDING).update(**values) == 1


def _finish(archive: Archive, files: dict[str, list[int]]) -> None:
    now = clock.now()
    for path in archive_files.folder_of(archive.id).iterdir():
        if path.name != archive_files.ARCHIVE:
            path.unlink()
    with transaction.atomic():
        done = {
            "state": ArchiveState.READY,
            "finished_at": now,
            "expires_at": now + RETENTION,
            "size": files[archive_files.ARCHIVE][0],
        }
        if _save(archive, files=files, **done):
            publish(ArchiveReady(archive_id=archive.id))


def _remove(archive: Archive) -> None:
    """Delete the row, then the files. A process that is still writing then finds no row, and removes the folder."""
    with transaction.atomic():
        Archive.objects.filter(id=archive.id).delete()
        transaction.on_commit(lambda: archive_files.remove_folder(archive.id), robust=True)


def forget_archives() -> int:
    """Remove expired and abandoned archives, and stray folders; return how many. Run by the scheduler."""
    ids = Archive.objects.values_list("id", flat=True)
    strays = archive_files.remove_strays(archive_files.folder_of(0).parent, ids.all)
    old = Archive.objects.filter(expires_at__lt=clock.now())
    stuck = Archive.objects.filter(
        state=ArchiveState.BUILDING, created_at__lt=clock.now() - ABANDONMENT_AGE - RETENTION
    )
    chosen = list((old | stuck).order_by("id")[:500])
    for archive in chosen:
        _remove(archive)
    return strays + len(chosen)


def _remove_archives(account_id: int) -> int:
    chosen = list(Archive.objects.filter(account_id=account_id)[: erasing.BATCH_SIZE])
    for archive in chosen:
        _remove(archive)
    return len(chosen)


def _write_pictures(account: Account, cursor: int, writer: archive_files.ArchiveWriter) -> int | None:
    for name in ("avatar", "header"):
        path: str = getattr(account, name)
        if path:
            writer.add_stored(picture_name(account, name), path)
    return None


def picture_name(account: Account, name: str) -> str:
    """Return the file name of the `avatar` or `header` in an archive; empty if there is no such picture."""
    path: str = getattr(account, name)
    return f"{name}.{path.rpartition('.')[2]}" if path else ""


def _write_lists(account: Account, cursor: int, writer: archive_files.ArchiveWriter) -> int | None:
    lists = all_lists()
    portable = lists[cursor]
    lines = [write_line(portable.columns)] if portable.named else []
    for cells in portable.rows(account.id):
        lines.append(write_line(cells))
        if len(lines) >= _LINES_PER_STEP:
            writer.append(portable.file_name, "".join(lines).encode(), items=len(lines))
            lines.clear()
    writer.append(portable.file_name, "".join(lines).encode(), items=len(lines))
    return cursor + 1 if cursor + 1 < len(lists) else None


def _write_identities(account: Account, cursor: int, writer: archive_files.ArchiveWriter) -> int | None:
    """Write the stored data about the person's identities at issuers, if there are any."""
    identities = SocialAccount.objects.filter(user__account=account).order_by("id")
    shown = [
        {
            "issuer": identity.provider,
            "subject": identity.uid,
            "name": identity.extra_data.get("name", ""),
            "since": clock.iso(identity.date_joined),
        }
        for identity in identities
    ]
    if shown:
        writer.add_document("identities.json", orjson.dumps(shown, option=orjson.OPT_INDENT_2))
    return None


def register_parts() -> None:
    """Register the archive parts and the erasure step of this app."""
    register(
        ArchivePart("pictures", _write_pictures),
        ArchivePart("lists", _write_lists),
        ArchivePart("identities", _write_identities),
    )
    erasing.register(_remove_archives, remove_files_of)


def send_archive_mails(events: Sequence[ArchiveReady]) -> None:
    """Handle ArchiveReady: send a link that works until the archive is removed, for its signed-in owner only."""
    rows = Archive.objects.select_related("account__user").filter(pk__one_of={event.archive_id for event in events})
    send_all(
        Letter(
            archive.account.user,
            archive.account.user.email,
            "archive",
            {"link": links.web_url(reverse("settings_archive", args=[archive.pk])), "expires_at": archive.expires_at},
        )
        for archive in rows.order_by("pk")
        if archive.account.deleted_at is None
    )
