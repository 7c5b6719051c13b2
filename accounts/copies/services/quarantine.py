"""Checks files against hash lists and with the operator's scanner, and keeps refused ones until staff decide."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Final

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.copies.models import (
    CopyState,
    ListedAct,
    QuarantineDecision,
    QuarantinedFile,
    QuarantineSource,
    RemoteCopy,
)
from accounts.copies.queries import ListMatch, enabled_lists, find_match, needs_perceptual_hash
from accounts.events import FileReleased
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from social.kernel import clock
from social.kernel.errors import Conflict, Invalid, require_found
from social.kernel.events import publish
from social.kernel.locks import lock
from social.kernel.media import scanning
from social.kernel.media.hashing import perceptual_hash
from social.kernel.media.scanning import ScanResult
from social.kernel.media.storage import DurableStorage

REQUEST_SECONDS: Final = 5.0
"""Time-out of a scan while a client waits."""


@dataclass(frozen=True)
class Origin:
    """Origin of a file; the fields are columns of `QuarantinedFile`."""

    source: QuarantineSource
    account_id: int | None = None
    url: str = ""
    media_id: int | None = None
    copy_digest: str = ""


def is_watching() -> bool:
    """Tell whether files are checked before they are shown, by the scanner or against hash lists."""
    return scanning.is_on() or bool(enabled_lists())


def known_result(sha256: str) -> ScanResult | None:
    """Return the earlier result for a file that was in quarantine before; None for any other file, which has to be checked."""
    row = _rows_of_digest(sha256).order_by("-decided_at", "-id").first()
    if row is None:
        return None
    return ScanResult(row.decision == QuarantineDecision.RELEASED, row.reason)


def _rows_of_digest(sha256: str) -> QuerySet[QuarantinedFile]:
    # Files that a list refused and about which staff have not decided are checked again, because lists change.
    return QuarantinedFile.objects.filter(sha256=sha256).exclude(decision=QuarantineDecision.REFUSED)


def quarantine_file(
    file: IO[bytes],
    *,
    sha256: str,
    content_type: str,
    result: ScanResult,
    origin: Origin,
    match: ListMatch | None = None,
) -> None:
    """Put a file into quarantine; its bytes are stored once, unless the list in `match` forbids it. Raises OSError."""
    with _removed_on_failure() as paths, transaction.atomic():
        lock(f"quarantine:{sha256}")
        earlier = _rows_of_digest(sha256).order_by("-id").first()
        file.seek(0, 2)
        row = QuarantinedFile(
            sha256=sha256,
            source=origin.source,
            account_id=origin.account_id,
            url=origin.url,
            media_id=origin.media_id,
            copy_digest=origin.copy_digest,
            content_type=content_type[:100],
            size=file.tell(),
            reason=result.reason,
        )
        if match is not None:
            row.list_name, row.distance = match.hash_list.name, match.distance
        elif earlier is not None:
            row.list_name, row.distance = earlier.list_name, earlier.distance
        if match is not None and match.hash_list.act == ListedAct.REFUSE:
            row.decision = QuarantineDecision.REFUSED
        elif earlier is None:
            file.seek(0)
            row.path = _store().save(f"{sha256[:2]}/{sha256}", File(file, name=sha256))
            paths.append(row.path)
        else:
            row.decision, row.decided_by, row.decided_at = earlier.decision, earlier.decided_by, earlier.decided_at
        row.save(force_insert=True)


def is_clean(
    file: IO[bytes],
    *,
    content_type: str,
    origin: Origin,
    seconds: float = scanning.SCAN_SECONDS,
    scanned: bool = True,
) -> bool:
    """Tell whether a file may be shown; a refused file is put into quarantine. If `scanned` is False, only the hash
    lists are checked.

    Call it outside of transactions. Raises Unavailable when the scanner does not respond, Invalid for a file on which
    its decoder fails, and OSError.
    """
    scanned = scanned and scanning.is_on()
    if not scanned and not enabled_lists():
        return True
    sha256 = scanning.digest_of(file)
    result = known_result(sha256)
    match: ListMatch | None = None
    if result is None:
        match = find_match(sha256, perceptual_hash(file) if needs_perceptual_hash() else None)
        result = ScanResult(match is None)
        if match is None and scanned:
            result = scanning.scan(file, content_type, sha256, seconds=seconds)
    if not result.clean:
        quarantine_file(file, sha256=sha256, content_type=content_type, result=result, origin=origin, match=match)
    file.seek(0)
    return result.clean


def refuse_unless_clean(file: IO[bytes] | bytes, *, content_type: str, origin: Origin, scanned: bool = True) -> None:
    """Check a file as `is_clean` does, while its sender waits. Raises Unavailable; Invalid for a file that may not be
    shown, with a message that mentions neither lists nor the scanner.
    """
    opened = BytesIO(file) if isinstance(file, bytes) else file
    if not is_clean(opened, content_type=content_type, origin=origin, seconds=REQUEST_SECONDS, scanned=scanned):
        raise Invalid(_("This file cannot be used here."))


def is_quarantined(copy_digest: str) -> bool:
    """Tell whether a copy of a remote file is in quarantine. Such a file is not fetched again."""
    if not is_watching():
        return False
    rows = QuarantinedFile.objects.filter(copy_digest=copy_digest)
    return rows.exclude(decision__one_of=[QuarantineDecision.RELEASED, QuarantineDecision.REFUSED]).exists()


@contextmanager
def opened(file: QuarantinedFile) -> Iterator[IO[bytes]]:
    """Open a quarantined file for reading. Raises FileNotFoundError when its bytes are gone."""
    rows = QuarantinedFile.objects.filter(sha256=file.sha256).exclude(path="")
    path = rows.values_list("path", flat=True).first()
    if path is None:
        raise FileNotFoundError(file.sha256)
    with _store().open(path) as stored:
        yield stored


def release_file(*, by: Staff, file: QuarantinedFile) -> None:
    """Release a file, and every other file with the same digest, to be processed or fetched again. Publishes FileReleased.

    Raises Forbidden without MANAGE_REPORTS; NotFound; Conflict if staff have already decided.
    """
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        current = _decide(by, file, QuarantineDecision.RELEASED)
        digests = list(_same_digest(current).exclude(copy_digest="").values_list("copy_digest", flat=True).distinct())
        RemoteCopy.objects.filter(digest__one_of=digests, state=CopyState.FAILED).delete()
        publish(FileReleased(file_id=current.id))
        _record(by, "release", current)


def destroy_file(*, by: Staff, file: QuarantinedFile) -> None:
    """Delete the bytes of a file for good; its row stays, so that the same file is recognised later.

    Raises Forbidden without MANAGE_REPORTS; NotFound; Conflict if staff have already decided or the sender is on hold.
    """
    require(by, Permission.MANAGE_REPORTS)
    with transaction.atomic():
        if _same_digest(file).filter(account__held_at__isnull=False).exists():
            raise Conflict(_("The account is on hold: none of its data may be removed."))
        current = _decide(by, file, QuarantineDecision.DESTROYED)
        paths = [path for path in _same_digest(current).values_list("path", flat=True) if path]
        _same_digest(current).update(path="")
        _record(by, "destroy", current)
        transaction.on_commit(lambda: _remove(paths), robust=True)


def forget_released(file: QuarantinedFile) -> None:
    """Delete the quarantined bytes of a released file, which is stored in its proper place again."""
    rows = QuarantinedFile.objects.filter(sha256=file.sha256, decision=QuarantineDecision.RELEASED)
    paths = [path for path in rows.values_list("path", flat=True) if path]
    rows.update(path="")
    _remove(paths)


#: Decisions that staff can still change.
_OPEN_DECISIONS: Final = [QuarantineDecision.WAITING, QuarantineDecision.REFUSED]


def _same_digest(file: QuarantinedFile) -> QuerySet[QuarantinedFile]:
    return QuarantinedFile.objects.filter(sha256=file.sha256)


def _decide(by: Staff, file: QuarantinedFile, decision: QuarantineDecision) -> QuarantinedFile:
    lock(f"quarantine:{file.sha256}")
    current = require_found(QuarantinedFile.objects.select_for_update(of=("self",)).filter(pk=file.pk).first())
    if current.decision not in _OPEN_DECISIONS:
        raise Conflict(_("Somebody has already released or destroyed this file."))
    _same_digest(current).filter(decision__one_of=_OPEN_DECISIONS).update(
        decision=decision, decided_by=by.name, decided_at=clock.now()
    )
    return current


def _record(by: Staff, action: str, file: QuarantinedFile) -> None:
    record(
        by=by,
        action=action,
        target_type="QuarantinedFile",
        target_id=file.id,
        target_name=file.sha256,
        source=file.source,
        reason=file.reason,
    )


def _store() -> DurableStorage:
    return DurableStorage(location=Path(settings.PRIVATE_ROOT) / "quarantine")


@contextmanager
def _removed_on_failure() -> Iterator[list[str]]:
    """Yield a list for the paths of files; if the block raises an error, these files are removed."""
    paths: list[str] = []
    try:
        yield paths
    except BaseException:
        _remove(paths)
        raise


def _remove(paths: list[str]) -> None:
    for path in paths:
        _store().delete(path)
