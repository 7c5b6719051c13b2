"""Lets staff create, change, enable, disable and delete hash lists, and import their hashes."""

from dataclasses import dataclass
from itertools import chain
from typing import IO, Any, Final

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.copies import policies
from accounts.copies.models import HashEntry, HashKind, HashList
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record_about
from social.kernel.batches import in_batches
from social.kernel.errors import FieldError, Invalid, require_valid
from social.kernel.locks import lock, lock_row

_BATCH: Final = 2000
_WRONG_LIMIT: Final = 5
_CHANGEABLE_COLUMNS: Final = ("source", "note", "act", "distance")


@dataclass(frozen=True)
class Imported:
    """Result of an import: how many lines were new, known and invalid, and the line numbers of the first invalid lines."""

    added: int
    known: int
    wrong: int
    first_wrong: tuple[int, ...]

    @property
    def words(self) -> str:
        words = [
            ngettext("%(count)d hash is new.", "%(count)d hashes are new.", self.added) % {"count": self.added},
            ngettext("%(count)d was on the list.", "%(count)d were on the list.", self.known) % {"count": self.known},
        ]
        if self.wrong:
            text = ngettext(
                "%(count)d line has no hash: %(lines)s.",
                "%(count)d lines have no hash, first of all %(lines)s.",
                self.wrong,
            )
            words.append(text % {"count": self.wrong, "lines": ", ".join(map(str, self.first_wrong))})
        return " ".join(words)


def create_list(*, by: Staff, draft: policies.HashListDraft) -> HashList:
    """Create a list, empty and disabled. Raises Forbidden without MANAGE_BLOCKS; Invalid with `details`."""
    require(by, Permission.MANAGE_BLOCKS)
    require_valid(policies.list_errors(draft), details=True)
    with transaction.atomic():
        lock("hash_lists")
        if HashList.objects.count() >= policies.LISTS_LIMIT:
            raise Invalid.sentence(
                _("There are %(count)d lists already: remove one first.") % {"count": policies.LISTS_LIMIT}
            )
        if HashList.objects.filter(name=draft.name.strip()).exists():
            raise Invalid.of([FieldError.taken("name")], details=True)
        hash_list = HashList.objects.create(name=draft.name.strip(), kind=draft.kind, **_values(draft))
        record_about(by, "create", hash_list, after=_audited_values(hash_list))
    return hash_list


def change_list(*, by: Staff, hash_list: HashList, draft: policies.HashListDraft) -> None:
    """Change the source, note, effect (`act`) and distance of a list. Raises Forbidden, Invalid, NotFound."""
    require(by, Permission.MANAGE_BLOCKS)
    require_valid(policies.list_errors(draft), details=True)
    with transaction.atomic():
        current = lock_row(hash_list)
        before = _audited_values(current)
        for name, value in _values(draft).items():
            setattr(current, name, value)
        current.save(update_fields=_CHANGEABLE_COLUMNS)
        if _audited_values(current) != before:
            record_about(by, "update", current, before=before, after=_audited_values(current))


def switch_list(*, by: Staff, hash_list: HashList, enabled: bool) -> None:
    """Enable or disable a list, which takes effect in every process within RECENT_SECONDS. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        current = lock_row(hash_list)
        if current.enabled != enabled:
            HashList.objects.filter(id=current.id).update(enabled=enabled)
            record_about(by, "enable" if enabled else "disable", current)


def delete_list(*, by: Staff, hash_list: HashList) -> None:
    """Delete a list with its hashes; files that it has refused stay as they are. Raises Forbidden, NotFound."""
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        current = lock_row(hash_list)
        record_about(by, "destroy", current, before=_audited_values(current))
        current.delete()


def import_hashes(*, by: Staff, hash_list: HashList, file: IO[bytes], replace: bool = False) -> Imported:
    """Add the hashes of a file (`read_hashes`) to a list, or replace its hashes, in one transaction.

    Raises Forbidden, NotFound; Invalid for a file without a hash, and for too many lines or hashes.
    """
    require(by, Permission.MANAGE_BLOCKS)
    with transaction.atomic():
        current = lock_row(hash_list)
        if replace:
            current.entries.all().delete()
        before = 0 if replace else current.size
        limit = policies.HASHES_LIMIT[HashKind(current.kind)]
        good, wrong, first_wrong = 0, 0, list[int]()
        for lines in in_batches(policies.read_hashes(file), _BATCH):
            values = dict.fromkeys(value for _number, value in lines if value is not None)
            without = [number for number, value in lines if value is None]
            first_wrong += without[: _WRONG_LIMIT - len(first_wrong)]
            good, wrong = good + len(values), wrong + len(without)
            if good > limit or good + wrong > policies.LINES_LIMIT:
                raise _too_many(limit)
            entries = (_entry(current, value) for value in values)
            HashEntry.objects.bulk_create(entries, batch_size=_BATCH, ignore_conflicts=True)
        if not good:
            raise Invalid.sentence(_("The file has no hash: each line begins with 64 hexadecimal digits."))
        size = current.entries.count()
        if size > limit:
            raise _too_many(limit)
        HashList.objects.filter(id=current.id).update(size=size)
        result = Imported(size - before, good - (size - before), wrong, tuple(first_wrong))
        record_about(by, "import", current, added=result.added, known=result.known, wrong=wrong, replaced=replace)
    return result


def _entry(hash_list: HashList, value: bytes) -> HashEntry:
    words = policies.words_of(value) if hash_list.kind == HashKind.PDQ else None
    return HashEntry(hash_list=hash_list, value=value, words=words)


def _too_many(limit: int) -> Invalid:
    return Invalid.sentence(_("A list of this kind has at most %(count)d hashes.") % {"count": limit})


def _values(draft: policies.HashListDraft) -> dict[str, Any]:
    return {"source": draft.source.strip(), "note": draft.note.strip(), "act": draft.act, "distance": draft.distance}


def _audited_values(hash_list: HashList) -> dict[str, Any]:
    return {name: getattr(hash_list, name) for name in chain(("kind",), _CHANGEABLE_COLUMNS)}
