"""Reads imports, archives and moves, for the pages of whose they are."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import QuerySet

from accounts.models import Account, Archive, Import, ImportRow, ImportRowState, Move
from social.kernel.batches import BATCH
from social.kernel.errors import require_found

LIST_SIZE = 20


def find_latest_archive(account_id: int) -> Archive | None:
    """The last archive that the account has asked for, if it is still there."""
    return Archive.objects.filter(account_id=account_id).order_by("-id").first()


def list_imports(account_id: int) -> QuerySet[Import]:
    """The imports of the account, the newest first, some of them."""
    return Import.objects.filter(account_id=account_id).order_by("-id")[:LIST_SIZE]


def find_import(account_id: int, import_id: int) -> Import:
    """An import of the account. Raises NotFound, also for somebody else's."""
    return require_found(Import.objects.filter(account_id=account_id, id=import_id).first())


def list_failures(batch: Import) -> QuerySet[ImportRow]:
    """The lines of an import that have failed, in the order of the file, some of them."""
    return _failures(batch)[:LIST_SIZE]


def all_failures(batch: Import) -> Iterator[ImportRow]:
    """Yield all failures, read in batches."""
    last = 0
    while rows := list(_failures(batch).filter(line__gt=last)[:BATCH]):
        yield from rows
        last = rows[-1].line


def _failures(batch: Import) -> QuerySet[ImportRow]:
    return batch.rows.filter(state=ImportRowState.FAILED).order_by("line")


def list_moves(account_id: int) -> QuerySet[Move]:
    """The moves of the account, the newest first, some of them."""
    return Move.objects.filter(account_id=account_id).order_by("-created_at")[:LIST_SIZE]


def load_aliases(account: Account) -> list[tuple[str, Account | None]]:
    """The other names of an account as ids, each with the account as far as it is known here; in one query."""
    known = {one.uri: one for one in Account.objects.filter(uri__one_of=account.also_known_as)}
    return [(uri, known.get(uri)) for uri in account.also_known_as]
