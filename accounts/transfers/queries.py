"""Reads imports, archives and moves for the pages of their owners."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import BigIntegerField, QuerySet, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from accounts.models import Account, User
from accounts.transfers.models import Archive, Import, ImportRow, ImportRowState, Move, PastImport, PastLine
from social.kernel.batches import BATCH
from social.kernel.errors import require_found

LIST_SIZE = 20


def find_latest_archive(account_id: int) -> Archive | None:
    """Return the last archive that the account has requested, if it still exists."""
    return Archive.objects.filter(account_id=account_id).order_by("-id").first()


def list_imports(account_id: int) -> QuerySet[Import]:
    """List the latest LIST_SIZE imports of the account."""
    return Import.objects.filter(account_id=account_id).order_by("-id")[:LIST_SIZE]


def find_import(account_id: int, import_id: int) -> Import:
    """Return an import of the account. Raises NotFound, also for another account's import."""
    return require_found(Import.objects.filter(account_id=account_id, id=import_id).first())


def list_failures(batch: Import) -> QuerySet[ImportRow]:
    """List the first LIST_SIZE failed lines of an import, in the order of the file."""
    return _failures(batch)[:LIST_SIZE]


def all_failures(batch: Import) -> Iterator[ImportRow]:
    """Yield all failed lines of an import, read in batches."""
    last = 0
    while rows := list(_failures(batch).filter(line__gt=last)[:BATCH]):
        yield from rows
        last = rows[-1].line


def _failures(batch: Import) -> QuerySet[ImportRow]:
    return batch.rows.filter(state=ImportRowState.FAILED).order_by("line")


def list_past_imports(account_id: int) -> QuerySet[PastImport]:
    """List the account's imports of posts from archives."""
    return PastImport.objects.filter(account_id=account_id)


def find_past_import(account_id: int, import_id: int) -> PastImport:
    """Return an import of the account's own posts. Raises NotFound, also for another account's import."""
    return require_found(PastImport.objects.filter(account_id=account_id, id=import_id).first())


def list_left_out(found: PastImport) -> QuerySet[PastLine]:
    """List the entries that an import of posts left out, in the order of the archive."""
    return found.lines.order_by("line", "reason")


@dataclass(frozen=True)
class Allowance:
    """Limits for imports from archives (posts, and bytes of files), and how much of them a person has used."""

    posts: int
    bytes: int
    used_posts: int
    used_bytes: int


def load_allowance(account_id: int) -> Allowance:
    """Return the limits of a local account's role, and how much of them is used. Two queries."""
    role = User.objects.select_related("role").get(account_id=account_id).role
    stored_bytes = Cast(KeyTextTransform("bytes", "numbers"), BigIntegerField())
    used = PastImport.objects.filter(account_id=account_id, done__gt=0).aggregate(
        posts=Sum("done"), bytes=Sum(stored_bytes)
    )
    mebibytes = role.imported_mebibytes_limit
    return Allowance(role.imported_posts_limit, mebibytes << 20, used["posts"] or 0, used["bytes"] or 0)


def list_moved_here(account: Account) -> list[Account]:
    """List the accounts of the same person that have moved to this one, if the person has named them as aliases."""
    return list(Account.objects.filter(uri__one_of=account.also_known_as, moved_to=account).order_by("id"))


def list_moves(account_id: int) -> QuerySet[Move]:
    """List the latest LIST_SIZE moves of the account."""
    return Move.objects.filter(account_id=account_id).order_by("-created_at")[:LIST_SIZE]


def load_aliases(account: Account) -> list[tuple[str, Account | None]]:
    """Load the aliases of an account: each ActivityPub id with its account, or None if the account is unknown. Needs one
    query.
    """
    known = {one.uri: one for one in Account.objects.filter(uri__one_of=account.also_known_as)}
    return [(uri, known.get(uri)) for uri in account.also_known_as]
