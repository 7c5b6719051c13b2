from pathlib import Path
from typing import Annotated

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.copies import queries
from accounts.copies.models import DISTANCE_LIMIT, HashKind, HashList, ListedAct
from accounts.copies.policies import HashListDraft
from accounts.copies.services.hash_lists import create_list, delete_list, import_hashes, switch_list
from accounts.policies.staff import OPERATOR
from social.kernel.errors import NotFound
from social.kernel.media.hashing import perceptual_hash
from social.kernel.media.scanning import digest_of
from social.management.base import OperatorCommand, undone_if, would


def _find_list(name: str) -> HashList:
    try:
        return queries.find_hash_list(name)
    except NotFound:
        raise CommandError(_("There is no list %(name)s.") % {"name": name}) from None


def _hashes(hash_list: HashList) -> str:
    return "1 hash" if hash_list.size == 1 else f"{hash_list.size} hashes"


_List = Annotated[HashList, _find_list, ("metavar", "LIST"), ("help", "name or id of the list")]


class Command(OperatorCommand):
    """Manage hash lists of unwanted files.

    Uploads, and files from other servers, that are on an enabled list are refused. Add a list, import a file of hashes into it,
    then enable it.
    """

    def list_(self, *, json: bool) -> None:
        """Show the lists, with the numbers of their hashes and of the files that they have refused."""
        columns = ("id", "name", "enabled", "kind", "act", "distance", "size", "matches", "source")
        rows = [row | {"id": str(row["id"])} for row in queries.list_hash_lists().values(*columns)]
        self.print_rows(rows, as_json=json, empty=_("There are no hash lists."))

    def add(
        self, name: str, *, kind: HashKind = HashKind.SHA256, act: ListedAct = ListedAct.QUARANTINE,
        distance: Annotated[int, range(DISTANCE_LIMIT + 1)] = DISTANCE_LIMIT, source: str = "", note: str = "",
        dry_run: bool,
    ) -> None:  # fmt: skip
        """Add a list, empty and disabled.

        name: name of the list, for staff
        kind: sha256 finds the same file, pdq pictures that look alike
        act: what happens to a file on the list
        distance: with pdq: how many of 256 bits may differ (%(default)s)
        source: where the list comes from
        note: a note for staff
        """
        draft = HashListDraft(name=name, kind=kind, source=source, note=note, act=act, distance=distance)
        with undone_if(dry_run):
            create_list(by=OPERATOR, draft=draft)
        self.stdout.write(f"{name}: {kind}, {act}, 0 hashes, off, {would(dry_run)}added.")

    def import_(self, hash_list: _List, file: Path, *, replace: bool, dry_run: bool) -> None:
        """Add the hashes of a text or CSV file to a list: 64 hexadecimal digits at the beginning of each line.

        file: the file of hashes
        replace: replace the hashes of the list with those of the file
        """
        with file.open("rb") as opened, undone_if(dry_run):
            self.stdout.write(import_hashes(by=OPERATOR, hash_list=hash_list, file=opened, replace=replace).words)

    def export(self, hash_list: _List, file: Path) -> None:
        """Write the hashes of a list to a file.

        file: the file to write
        """
        with file.open("w", encoding="ascii") as opened:
            opened.writelines(queries.export_hashes(hash_list))
        self.stdout.write(f"{_hashes(hash_list)} in {file}")

    def enable(self, hash_list: _List, *, dry_run: bool) -> None:
        """Enable a list: from now on files are checked against it."""
        self._switch(hash_list, True, dry_run)

    def disable(self, hash_list: _List, *, dry_run: bool) -> None:
        """Disable a list; files that it put into quarantine stay there."""
        self._switch(hash_list, False, dry_run)

    def _switch(self, hash_list: HashList, enabled: bool, dry_run: bool) -> None:
        with undone_if(dry_run):
            switch_list(by=OPERATOR, hash_list=hash_list, enabled=enabled)
        self.stdout.write(f"{hash_list.name}: {_hashes(hash_list)}, {would(dry_run)}{'on' if enabled else 'off'}.")

    def remove(self, hash_list: _List, *, dry_run: bool) -> None:
        """Remove a list with its hashes; files that it put into quarantine stay there."""
        with undone_if(dry_run):
            delete_list(by=OPERATOR, hash_list=hash_list)
        self.stdout.write(f"{hash_list.name}: {_hashes(hash_list)}, {would(dry_run)}removed.")

    def find(self, file: Path) -> None:
        """Show the enabled list that contains a file.

        file: the picture, video or other file
        """
        with file.open("rb") as opened:
            match = queries.find_match(
                digest_of(opened), perceptual_hash(opened) if queries.needs_perceptual_hash() else None
            )
        self.stdout.write(match.words if match is not None else _("No enabled list has this file."))
