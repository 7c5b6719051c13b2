"""Processes imports of archives in the background, each for a few seconds at a time."""

import time
from collections.abc import Sequence
from typing import Final

from django.db import transaction

from accounts.events import PastImportDue
from accounts.transfers.models import PastImport, PastState
from accounts.transfers.services.archive_files import locked
from accounts.transfers.services.past import folder_of, remove_files
from federation.archives.importing import import_some
from federation.archives.scanning import scan
from federation.archives.undoing import undo_some
from social.kernel.events import publish

TURN_SECONDS: Final = 2.0
PAUSE_SECONDS: Final = 1.0
"""Pause between two turns of an import, during which the machine can do other work."""


def work_off_past_imports(events: Sequence[PastImportDue]) -> None:
    """Handle PastImportDue: process each import for TURN_SECONDS, and publish PastImportDue again if it is not finished."""
    for import_id in dict.fromkeys(event.import_id for event in events):
        if process_import(import_id):
            # Sleeping here delays no other work, because this queue has its own thread. An event that is due in the future
            # would be found only by the next sweep, up to seven seconds late.
            time.sleep(PAUSE_SECONDS)
            with transaction.atomic():
                publish(PastImportDue(import_id=import_id))


def process_import(import_id: int, *, seconds: float = TURN_SECONDS) -> bool:
    """Read an archive, or import or remove posts for `seconds`; return whether there is more to do. An archive is read in one
    turn. Raises Unavailable while another process works on the import.
    """
    rows = PastImport.objects.select_related("account__user").filter(id=import_id)
    if not rows.exists():
        remove_files(import_id)
        return False
    with locked(folder_of(import_id)) as folder:
        # The row is read under the lock, because another process may have changed the row before the lock was taken.
        batch = rows.first()
        if batch is not None and batch.state == PastState.READING:
            scan(batch, folder)
            return False
        if batch is not None and batch.state == PastState.RUNNING:
            return import_some(batch, folder, seconds=seconds)
    if batch is not None and batch.state == PastState.UNDOING:
        return undo_some(batch, seconds=seconds)
    return False
