"""Imports lists that people bring from another server.

A file is parsed when it is uploaded. When its owner has confirmed it, each line is imported in the background by the service
that a client would call; importing a line again changes nothing. Unknown accounts are looked up by the workers for requests to
other servers, a few from each server at a time, so that slow servers do not delay others.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F, Func, TextField, Value, Window
from django.db.models.functions import RowNumber
from django.utils.translation import gettext as _

from accounts.events import ImportDue
from accounts.models import Account
from accounts.ports import remote_accounts
from accounts.queries.accounts import by_address
from accounts.transfers.models import Import, ImportRow, ImportRowState, ImportState
from accounts.transfers.policies import CELL_LIMIT, BadLine, Problem, Unreadable, read_table
from accounts.transfers.services.portable_lists import BATCH, Entry, PortableList, find_list, foreign_columns
from social.kernel import clock
from social.kernel.errors import Conflict, Invalid, KernelError, NotFound, require_found
from social.kernel.events import publish
from social.kernel.text.names import visible_text

#: Seconds after which a call ends and leaves the rest to the next call, and the number of lines or entries that a step handles.
TURN_SECONDS: Final = 1.0
BATCH_SIZE: Final = 50
#: Number of accounts of one server that an import looks up at a time, so that another import does not have to wait long.
SOUGHT_PER_SERVER: Final = 20
CHECK_INTERVAL: Final = timedelta(seconds=5)
RETENTION: Final = timedelta(days=7)
UNCONFIRMED_RETENTION: Final = timedelta(days=1)
_FILE_NAME_LENGTH: Final = 200

Address = tuple[str, str | None]


def read_import(*, account: Account, portable: PortableList, data: bytes, file_name: str, overwrite: bool) -> Import:
    """Store the lines of a file until its owner confirms it, replacing an unconfirmed file of the same list.

    Of several lines with the same key, only the first counts. Lines that are not ASCII are parsed during the import,
    because normalising 20,000 international domains takes seconds (security row 78). Raises Unreadable.
    """
    rows: list[ImportRow] = []
    keys: set[str] = set()
    for line in read_table(data, portable.columns, foreign_columns(portable)):
        row = ImportRow(line=line.number, cells=list(line.cells))
        if any(len(cell) > CELL_LIMIT for cell in line.cells):
            row.cells = [cell[:CELL_LIMIT] for cell in line.cells]
            row.state, row.error = ImportRowState.FAILED, Problem.CELL_TOO_LONG
        elif all(cell.isascii() for cell in line.cells):
            _read(row, portable)
        if row.key not in keys or not row.key:
            keys.add(row.key)
            rows.append(row)
    if all(row.state == ImportRowState.FAILED for row in rows):
        raise Unreadable(Problem.NO_USABLE_LINE, rows[0].line)
    with transaction.atomic():
        Import.objects.filter(account=account, kind=portable.name, state=ImportState.WAITING).delete()
        batch = Import.objects.create(
            account=account,
            kind=portable.name,
            overwrite=overwrite,
            file_name=visible_text(file_name)[:_FILE_NAME_LENGTH],
            total=len(rows),
            failed=sum(row.state == ImportRowState.FAILED for row in rows),
        )
        for row in rows:
            row.batch = batch
        ImportRow.objects.bulk_create(rows, batch_size=BATCH)
    return batch


def _read(row: ImportRow, portable: PortableList) -> None:
    try:
        row.key = portable.read(row.cells).key
    except BadLine as error:
        row.state, row.error = ImportRowState.FAILED, error.problem


def start_import(*, account: Account, import_id: int) -> None:
    """Start an import, unless it has started. Raises NotFound; Conflict while another import runs. Publishes ImportDue."""
    try:
        with transaction.atomic():
            batch = require_found(Import.objects.select_for_update().filter(id=import_id, account=account).first())
            if batch.state != ImportState.WAITING:
                return
            batch.state = ImportState.RUNNING
            batch.removed_up_to = 0 if batch.overwrite else None
            batch.save(update_fields=["state", "removed_up_to"])
            publish(ImportDue(import_id=batch.id))
    except IntegrityError:
        raise Conflict(_("Another file of this kind is being imported. Wait until it is done.")) from None


def drop_import(*, account: Account, import_id: int) -> None:
    """Stop and delete an import; entries it has added stay. Raises NotFound, also for another account's import."""
    with transaction.atomic():
        batch = require_found(Import.objects.select_for_update().filter(id=import_id, account=account).first())
        batch.delete()


def work_off_imports(events: Sequence[ImportDue]) -> None:
    """Handle ImportDue: spend at most TURN_SECONDS processing each import."""
    for import_id in dict.fromkeys(event.import_id for event in events):
        process_import(import_id)


def process_import(import_id: int) -> None:
    """Spend at most TURN_SECONDS processing an import.

    Publishes ImportDue if lines are left. The import ends early if its owner's account is not usable.
    """
    end = time.monotonic() + TURN_SECONDS
    while True:
        batch = Import.objects.select_related("account__user").filter(id=import_id, state=ImportState.RUNNING).first()
        if batch is None:
            return
        work = _Work(batch, find_list(batch.kind))
        if batch.account.suspended or not batch.account.user.is_active:
            work.finish()
            return
        moved = work.step()
        if not moved or time.monotonic() >= end:
            break
    moved = work.settle_sought() or moved
    if not moved and not work.is_waiting():
        work.finish()
        return
    with transaction.atomic():
        publish(ImportDue(import_id=import_id), due_at=None if moved else clock.now() + CHECK_INTERVAL)


@dataclass(frozen=True)
class _Work:
    """A running import; `portable` has the functions that read and add lines of its kind."""

    batch: Import
    portable: PortableList

    def step(self) -> bool:
        """Handle one batch; return whether there was anything to do."""
        if self._read_pending():
            return True
        if self.batch.removed_up_to is not None:
            self._remove_others(self.batch.removed_up_to)
            return True
        return self._add_pending()

    def _read_pending(self) -> bool:
        """Parse a batch of unparsed lines, and remove repeated lines; return whether there were any lines."""
        rows = list(self.batch.rows.filter(state=ImportRowState.PENDING, key="").order_by("line")[:BATCH_SIZE])
        for row in rows:
            _read(row, self.portable)
        read = [row for row in rows if row.key]
        firsts = dict(self.batch.rows.filter(key__one_of={row.key for row in read}).values_list("key", "line"))
        repeated: list[int] = []
        for row in read:
            first = firsts.setdefault(row.key, row.line)
            if first != row.line:
                firsts[row.key] = min(first, row.line)
                repeated.append(max(first, row.line))
        with transaction.atomic():
            ImportRow.objects.bulk_update(read, ["key"], batch_size=BATCH)
            gone, _by_model = self.batch.rows.filter(line__one_of=repeated).delete()
            Import.objects.filter(id=self.batch.id).update(total=F("total") - gone)
            for row in rows:
                if not row.key:
                    self._fail(row, Problem(row.error))
        return bool(rows)

    def is_waiting(self) -> bool:
        return self.batch.rows.exclude(state=ImportRowState.FAILED).exists()

    def finish(self) -> None:
        Import.objects.filter(id=self.batch.id).update(state=ImportState.FINISHED, finished_at=clock.now())

    def _remove_others(self, after: int) -> None:
        things = self.portable.existing(self.batch.account_id, after, BATCH_SIZE)
        keys = {thing.key for thing in things}
        brought = set(self.batch.rows.filter(key__one_of=keys).values_list("key", flat=True))
        gone = [thing for thing in things if thing.key not in brought]
        for thing in gone:
            self.portable.remove(self.batch.account, thing)
        Import.objects.filter(id=self.batch.id).update(
            removed_up_to=things[-1].id if things else None, removed=F("removed") + len(gone)
        )

    def _add_pending(self) -> bool:
        """Add those lines of a batch whose accounts are known, and mark the others so that their accounts are looked up."""
        rows = list(self.batch.rows.filter(state=ImportRowState.PENDING).order_by("line")[:BATCH_SIZE])
        entries = {row.id: self.portable.read(row.cells) for row in rows}
        known = _load_known(entries.values())
        ready: list[ImportRow] = []
        unknown: list[int] = []
        for row in rows:
            address = entries[row.id].address
            if address is None or address in known:
                ready.append(row)
            elif address[1] is None:
                self._fail(row, Problem.UNKNOWN)
            else:
                unknown.append(row.id)
        self.batch.rows.filter(id__one_of=unknown, state=ImportRowState.PENDING).update(state=ImportRowState.SOUGHT)
        self._add_all(ready, entries, known)
        return bool(rows)

    def settle_sought(self) -> bool:
        """Add lines whose account was found, mark those whose account does not exist as failed, and look up the next
        accounts; return whether any line was settled.
        """
        host = Func(F("key"), Value("@"), Value(-1), function="split_part", output_field=TextField())
        sought = self.batch.rows.filter(state=ImportRowState.SOUGHT)
        first = sought.annotate(place=Window(RowNumber(), partition_by=host, order_by="line"))
        # The lines are in random order, so that lines of many servers that do not respond do not delay the other lines.
        rows = list(first.filter(place__lte=SOUGHT_PER_SERVER).order_by("?")[:BATCH])
        entries = {row.id: self.portable.read(row.cells) for row in rows}
        known = _load_known(entries.values())
        unknown = {entry.address for entry in entries.values() if entry.address is not None} - known.keys()
        finder = remote_accounts.find()
        failed = finder.seek(unknown, wanted_by=f"account:{self.batch.account_id}") if finder is not None else unknown
        ready = [row for row in rows if entries[row.id].address in known]
        lost = [row for row in rows if entries[row.id].address in failed and entries[row.id].address not in known]
        self._add_all(ready, entries, known)
        for row in lost:
            self._fail(row, Problem.UNKNOWN)
        return bool(ready or lost)

    def _add_all(
        self, rows: Iterable[ImportRow], entries: Mapping[int, Entry], known: Mapping[Address, Account]
    ) -> None:
        """Add lines, and count them together; lines that were added but not counted before a crash are added again."""
        done: list[int] = []
        try:
            for row in rows:
                if self._add(row, entries[row.id], known):
                    done.append(row.id)
        finally:
            with transaction.atomic():
                # Only deleted rows are counted, because a step may run twice if its process was mistaken for dead.
                gone, _by_model = self.batch.rows.filter(id__one_of=done).delete()
                Import.objects.filter(id=self.batch.id).update(done=F("done") + gone)

    def _add(self, row: ImportRow, entry: Entry, known: Mapping[Address, Account]) -> bool:
        target = known[entry.address] if entry.address is not None else None
        problem = None
        if target is not None and target.id == self.batch.account_id and not self.portable.may_name_owner:
            problem = Problem.ONESELF
        else:
            try:
                self.portable.add(self.batch.account, entry, target)
            except KernelError as error:
                problem = _problem(error)
        if problem is not None:
            self._fail(row, problem)
        return problem is None

    def _fail(self, row: ImportRow, problem: Problem) -> None:
        with transaction.atomic():
            open_rows = self.batch.rows.filter(id=row.id).exclude(state=ImportRowState.FAILED)
            failed = open_rows.update(state=ImportRowState.FAILED, error=problem)
            Import.objects.filter(id=self.batch.id).update(failed=F("failed") + failed)


def _load_known(entries: Iterable[Entry]) -> dict[Address, Account]:
    return by_address([entry.address for entry in entries if entry.address is not None])


def _problem(error: KernelError) -> Problem:
    if isinstance(error, NotFound):
        return Problem.UNKNOWN
    return Problem.LIMIT if isinstance(error, Invalid) else Problem.REFUSED


def forget_imports() -> int:
    """Delete old finished imports, and imports that were not confirmed in time; return how many rows were deleted."""
    now = clock.now()
    old = Import.objects.filter(finished_at__lt=now - RETENTION) | Import.objects.filter(
        state=ImportState.WAITING, created_at__lt=now - UNCONFIRMED_RETENTION
    )
    removed, _by_model = old.delete()
    return removed
