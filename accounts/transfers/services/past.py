"""Receives archives of a person's own posts; starts, undoes and forgets imports, which `federation.archives` carries out."""

import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.events import PastImportDue
from accounts.models import Account
from accounts.policies.visibility import LOWERED_VISIBILITIES
from accounts.transfers.models import PastImport, PastLine, PastState
from accounts.transfers.past import UNDO_PERIOD, Reason, sentence_of, undo_end
from accounts.transfers.queries import load_allowance
from accounts.transfers.services.archive_files import remove_strays
from social.kernel import clock
from social.kernel.errors import Conflict, Invalid, require_found
from social.kernel.events import publish
from social.kernel.text.names import visible_text

ARCHIVE: Final = "archive"
UNCONFIRMED_RETENTION: Final = timedelta(days=7)
_FILE_NAME_LENGTH: Final = 200
_CHUNK: Final = 1 << 20
_ENDED: Final = (PastState.FINISHED, PastState.UNDONE, PastState.UNREADABLE)


def folder_of(import_id: int) -> Path:
    """Return the folder of an import's files, which is not served publicly."""
    return Path(settings.PRIVATE_ROOT) / "past" / str(import_id)


def remove_files(import_id: int) -> None:
    """Delete the files of an import, if there are any."""
    shutil.rmtree(folder_of(import_id), ignore_errors=True)


def take_archive(*, account: Account, file: IO[bytes], file_name: str, unlimited: bool = False) -> PastImport:
    """Store an archive, which is then read in the background; an earlier archive that was not imported is removed.

    Raises Conflict while an import of the account is running or being undone; Invalid for a file beyond the owner's limit,
    unless the import is `unlimited`. Publishes PastImportDue.
    """
    limit = None if unlimited else load_allowance(account.id).bytes
    for earlier in PastImport.objects.filter(account=account, state__in=(PastState.READING, PastState.READY)):
        drop_past(account=account, import_id=earlier.id)
    try:
        with transaction.atomic():
            past_import = PastImport.objects.create(
                account=account, file_name=visible_text(file_name)[:_FILE_NAME_LENGTH], unlimited=unlimited
            )
    except IntegrityError:
        raise Conflict(_("Another archive is being imported. Wait until it is done.")) from None
    try:
        folder = folder_of(past_import.id)
        folder.mkdir(parents=True, mode=0o700)
        with (folder / ARCHIVE).open("wb") as target:
            shutil.copyfileobj(file, target, _CHUNK)
            target.flush()
            os.fsync(target.fileno())
            past_import.size = target.tell()
        if limit is not None and past_import.size > limit:
            raise Invalid.sentence(sentence_of(Reason.OVER_BYTES))
    except BaseException:
        remove_files(past_import.id)
        past_import.delete()
        raise
    with transaction.atomic():
        past_import.save(update_fields=["size"])
        publish(PastImportDue(import_id=past_import.id))
    return past_import


def start_past(*, account: Account, import_id: int, visibility: str = "") -> None:
    """Start an import whose archive was read, unless it has started.

    `visibility` is the widest visibility that its posts may have. Raises NotFound, also for another account's import; Invalid
    for a visibility that is not in LOWERED_VISIBILITIES; Conflict for an import that cannot be started. Publishes
    PastImportDue.
    """
    if visibility and visibility not in LOWERED_VISIBILITIES:
        raise Invalid(_("Record invalid"))
    with transaction.atomic():
        past_import = _find(account, import_id)
        if past_import.state in (PastState.RUNNING, PastState.FINISHED):
            return
        if past_import.state != PastState.READY:
            raise Conflict(_("This archive cannot be imported."))
        past_import.state, past_import.visibility = PastState.RUNNING, visibility
        past_import.save(update_fields=["state", "visibility"])
        publish(PastImportDue(import_id=past_import.id))


def undo_past(*, account: Account, import_id: int) -> None:
    """Remove all posts of an import in the background. Raises NotFound; Conflict for an import that cannot be undone. Publishes
    PastImportDue.
    """
    try:
        with transaction.atomic():
            past_import = _find(account, import_id)
            if past_import.state == PastState.UNDOING:
                return
            if undo_end(past_import) is None:
                raise Conflict(_("This import cannot be undone any more."))
            past_import.state = PastState.UNDOING
            past_import.save(update_fields=["state"])
            publish(PastImportDue(import_id=past_import.id))
    except IntegrityError:
        raise Conflict(_("Another archive is being imported. Wait until it is done.")) from None


def drop_past(*, account: Account, import_id: int) -> None:
    """Stop a running import, whose posts stay, or remove an import that was not started. Raises NotFound."""
    with transaction.atomic():
        past_import = _find(account, import_id)
        if past_import.state == PastState.RUNNING:
            PastImport.objects.filter(id=past_import.id).update(state=PastState.FINISHED, finished_at=clock.now())
        elif past_import.state in (PastState.READING, PastState.READY, PastState.UNREADABLE):
            _remove(past_import)
        else:
            return
        transaction.on_commit(lambda: remove_files(import_id), robust=True)  # `_remove` clears the row's id


def _find(account: Account, import_id: int) -> PastImport:
    return require_found(PastImport.objects.select_for_update().filter(id=import_id, account=account).first())


def _remove(found: PastImport) -> None:
    PastLine.objects.filter(batch=found).delete()
    found.delete()


def remove_files_of(account_id: int) -> int:
    """Remove the files of an erased account's unfinished import; return 1 if there were any. Rows are erased elsewhere."""
    unfinished = PastImport.objects.filter(account_id=account_id).exclude(state__in=_ENDED)
    import_ids = [import_id for import_id in unfinished.values_list("id", flat=True) if folder_of(import_id).exists()]
    for import_id in import_ids:
        remove_files(import_id)
    return len(import_ids)


def forget_past_imports() -> int:
    """Remove archives that were not started in time, lines of imports that cannot be undone any more, and stray
    folders; return how many imports and folders. The row of an import stays as long as its posts exist. Run by the
    scheduler.
    """
    now = clock.now()
    unconfirmed = PastImport.objects.filter(
        state__in=(PastState.READING, PastState.READY, PastState.UNREADABLE), created_at__lt=now - UNCONFIRMED_RETENTION
    )
    chosen = list(unconfirmed[:100])
    for past_import in chosen:
        drop_past(account=past_import.account, import_id=past_import.id)
    ended = PastImport.objects.filter(state__in=_ENDED, finished_at__lt=now - UNDO_PERIOD)
    old = list(ended.filter(lines__isnull=False).values_list("id", flat=True).distinct()[:100])
    PastLine.objects.filter(batch_id__one_of=old).delete()
    unfinished = PastImport.objects.exclude(state__in=_ENDED).values_list("id", flat=True)
    return len(chosen) + len(old) + remove_strays(folder_of(0).parent, unfinished.all)
