"""Exports evidence about an account into a file in the background, for staff to download."""

import hashlib
import logging
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Account
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.queries.users import find_role
from accounts.services.audit import record_about
from moderation.events import EvidenceDue
from moderation.models import EvidenceFile, EvidenceState
from moderation.services.evidence import begin_export, write_evidence
from social.kernel import clock
from social.kernel.errors import Conflict, KernelError, NotFound
from social.kernel.events import publish

logger = logging.getLogger(__name__)
RETENTION: Final = timedelta(days=7)
"""Time for which a file can be downloaded; a file that is still unfinished after this time is abandoned."""


def request_evidence(*, by: Staff, account: Account, reason: str) -> EvidenceFile:
    """Request an evidence file about an account; publishes EvidenceDue. Raises Conflict and the errors of `begin_export`."""
    with transaction.atomic():
        Account.objects.select_for_update(of=("self",)).get(pk=account.pk)
        if EvidenceFile.objects.filter(account=account, state=EvidenceState.BUILDING).exists():
            raise Conflict(_("A file about this account is being written already."))
        begin_export(by=by, account=account, reason=reason)
        row = EvidenceFile.objects.create(
            account=account,
            author_id=by.account_id,
            author_name=by.name,
            reason=reason.strip(),
            expires_at=clock.now() + RETENTION,
        )
        publish(EvidenceDue(file_id=row.id))
    return row


def write_files(events: Sequence[EvidenceDue]) -> None:
    """Handle EvidenceDue: write each file under a temporary name, and rename it when it is complete; idempotent."""
    for event in events:
        row = EvidenceFile.objects.select_related("account").filter(id=event.file_id).first()
        if row is not None and row.state == EvidenceState.BUILDING:
            _write(row)


def find_evidence_file(*, by: Staff, row: EvidenceFile) -> Path:
    """Return the path of the file; the download is logged. Raises Forbidden without DELETE_USER_DATA or a rank above the
    person's; NotFound for a file that is not ready or was deleted.
    """
    require(by, Permission.DELETE_USER_DATA, over=find_role(row.account_id))
    path = _path(row.id)
    if row.state != EvidenceState.READY or not path.exists():
        raise NotFound
    with transaction.atomic():
        record_about(by, "fetch", row, sha256=row.sha256)
    return path


def forget_evidence() -> int:
    """Delete expired files, and files without a row; return the number of expired rows. Run by the scheduler."""
    count, _models = EvidenceFile.objects.filter(expires_at__lt=clock.now()).delete()
    # The files are listed before the rows, so that a file that is written at the same moment does not look orphaned.
    files = list(_folder().glob("*"))
    known_ids = set(map(str, EvidenceFile.objects.values_list("id", flat=True)))
    for file in files:
        if file.name.partition(".")[0] not in known_ids:
            file.unlink(missing_ok=True)
    return count


def _write(row: EvidenceFile) -> None:
    # The permission was checked when the file was requested.
    by = Staff(row.author_id, row.author_name, Permission.DELETE_USER_DATA, position=None)
    _folder().mkdir(parents=True, exist_ok=True, mode=0o700)
    values: dict[str, object]
    with NamedTemporaryFile(dir=_folder(), prefix=f"{row.id}.", delete=False) as file:
        path = Path(file.name)
        try:
            archive = write_evidence(by=by, account=row.account, reason=row.reason, to=file)
            file.flush()
            file.seek(0)
            values = {
                "state": EvidenceState.READY,
                "sha256": hashlib.file_digest(file, "sha256").hexdigest(),
                "size": file.seek(0, 2),
                "posts": archive.posts,
                "expires_at": clock.now() + RETENTION,
            }
        except KernelError as refusal:
            logger.warning("evidence %d cannot be written: %s", row.id, refusal)
            path.unlink()
            values = {"state": EvidenceState.FAILED, "error": refusal.message[:500]}
        except BaseException:
            path.unlink()
            raise
    if path.exists():
        path.rename(_path(row.id))
    if not EvidenceFile.objects.filter(id=row.id).update(**values):
        _path(row.id).unlink(missing_ok=True)


def _folder() -> Path:
    """Return the folder of the files, which is not served over HTTP."""
    return Path(settings.PRIVATE_ROOT) / "evidence"


def _path(file_id: int) -> Path:
    return _folder() / f"{file_id}.zip"
