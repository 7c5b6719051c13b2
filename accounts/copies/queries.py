"""Reads copies of remote files, and hash lists."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.postgres.fields import ArrayField
from django.db.models import Count, F, Func, IntegerField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from accounts.copies.models import CopyPurpose, CopyState, HashEntry, HashKind, HashList, QuarantinedFile, RemoteCopy
from accounts.copies.policies import digest_of, near_words
from accounts.models import Account
from accounts.policies.audience import is_present
from social.kernel.errors import NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.recent import Recent

_BYTES = Coalesce(Sum("file_size"), 0) + Coalesce(Sum("preview_size"), 0)


def find_copy(purpose: CopyPurpose, url: str) -> RemoteCopy | None:
    """Return the copy of a file, in any state; None when it was never requested."""
    return RemoteCopy.objects.filter(digest=digest_of(purpose, url)).first()


def find_copies(purpose: CopyPurpose, urls: Iterable[str]) -> dict[str, RemoteCopy]:
    """Return the existing copies of these files in any state, keyed by URL. Takes one query."""
    digests = [digest_of(purpose, url) for url in set(urls)]
    return {copy.url: copy for copy in RemoteCopy.objects.filter(digest__one_of=digests)}


def find_picture_url(account_id: int, name: str) -> str:
    """Return the remote address of the `avatar` or `header` of a remote account that is not suspended. Raises NotFound."""
    accounts = Account.objects.filter(is_present(), id=account_id).exclude(domain=None)
    url = accounts.values_list(f"{name}_remote_url", flat=True).first()
    if not url:
        raise NotFound
    return str(url)


def count_bytes(copies: QuerySet[RemoteCopy] | None = None) -> int:
    """Count the bytes of `copies`, or of all copies if `copies` is None."""
    chosen = RemoteCopy.objects.filter(state=CopyState.READY) if copies is None else copies
    total: int = chosen.aggregate(total=_BYTES)["total"]
    return total


def sum_up() -> list[tuple[str, str, int, int]]:
    """Return a tuple for each purpose and state of copies: purpose, state, number of copies, and their size in bytes."""
    copies = RemoteCopy.objects.values_list("purpose", "state").order_by("purpose", "state")
    return list(copies.annotate(count=Count("id"), bytes=_BYTES))


_BATCH: Final = 2000
_recent: Final[Recent[tuple[HashList, ...]]] = Recent()


@dataclass(frozen=True)
class ListMatch:
    """A hash list on which a file was found; `distance` is None if the file itself is listed."""

    hash_list: HashList
    distance: int | None = None

    @property
    def words(self) -> str:
        """Sentence for staff about the match."""
        return listed_words(self.hash_list.name, self.distance)


def listed_words(name: str, distance: int | None) -> str:
    """Return a sentence that names the list that a file is on, and the number of bits in which the hashes differ."""
    if distance is None:
        return _("The same file is on the list %(list)s") % {"list": name}
    words = _("Looks like a file on the list %(list)s (distance %(distance)d)")
    return words % {"list": name, "distance": distance}


def enabled_lists() -> tuple[HashList, ...]:
    """Return the enabled hash lists, from a cache that is at most RECENT_SECONDS old in every process."""
    return _recent.get("enabled", lambda: tuple(HashList.objects.filter(enabled=True).order_by("id")))


def _enabled_lists_of(kind: HashKind) -> dict[int, HashList]:
    return {hash_list.id: hash_list for hash_list in enabled_lists() if hash_list.kind == kind}


def needs_perceptual_hash() -> bool:
    """Tell whether an enabled list has perceptual hashes."""
    return bool(_enabled_lists_of(HashKind.PDQ))


def find_match(sha256: str, perceptual: bytes | None) -> ListMatch | None:
    """Return the enabled list with a file's SHA-256 hash, or with the most similar perceptual hash. The queries use indexes."""
    exact = _enabled_lists_of(HashKind.SHA256)
    if exact:
        rows = HashEntry.objects.filter(hash_list_id__one_of=list(exact), value=bytes.fromhex(sha256))
        list_id = rows.order_by("hash_list_id").values_list("hash_list_id", flat=True).first()
        if list_id is not None:
            return ListMatch(exact[list_id])
    alike = _enabled_lists_of(HashKind.PDQ)
    if not alike or perceptual is None:
        return None
    near = (
        HashEntry.objects.filter(words__overlap=_in_subquery(near_words(perceptual)), hash_list_id__one_of=list(alike))
        .annotate(distance=_distance(perceptual))
        .filter(distance__lte=F("hash_list__distance"))
        .order_by("distance", "hash_list_id")
        .values_list("hash_list_id", "distance")
        .first()
    )
    return ListMatch(alike[near[0]], near[1]) if near is not None else None


def _in_subquery(words: list[int]) -> Func:
    # The words are in a subquery, because PostgreSQL would otherwise see that there are many words, expect most rows to
    # contain one of them, and read the whole table.
    return Func(Value(words, output_field=ArrayField(IntegerField())), template="(SELECT %(expressions)s)")


def _bits(value: Any) -> Func:
    # Hashes are converted into bit strings, the only type that PostgreSQL compares bit by bit; they are stored as bytes,
    # because bytes take less space.
    return Func(value, template="('x' || encode(%(expressions)s, 'hex'))::bit(256)")


def _distance(perceptual: bytes) -> Func:
    both = (_bits(F("value")), _bits(Value(perceptual)))
    return Func(*both, template="bit_count(%(expressions)s)", arg_joiner=" # ", output_field=IntegerField())


def list_hash_lists() -> QuerySet[HashList]:
    """List the hash lists, with the number of refused files as `matches`."""
    refused = QuarantinedFile.objects.filter(list_name=OuterRef("name")).exclude(list_name="").order_by()
    counted = Subquery(refused.values("list_name").annotate(count=Count("id")).values("count"))
    return HashList.objects.annotate(matches=Coalesce(counted, 0)).order_by("name")


def find_hash_list(name: str) -> HashList:
    """Return the hash list with this name or id. Raises NotFound."""
    number = parse_id(name)
    by_id = HashList.objects.filter(id=number).first() if number is not None else None
    return require_found(HashList.objects.filter(name=name).first() or by_id)


def export_hashes(hash_list: HashList) -> Iterator[str]:
    """Yield the lines of a file that can be imported: the kind, then one hash per line."""
    yield f"{hash_list.kind}\n"
    values = hash_list.entries.order_by("value").values_list("value", flat=True)
    for value in values.iterator(chunk_size=_BATCH):
        yield f"{bytes(value).hex()}\n"
