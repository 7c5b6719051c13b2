import shlex
import sys
from pathlib import Path
from typing import Annotated

from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat

from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from social.runtime.backups import archive, restoring
from social.settings import env


class Command(OperatorCommand):
    """Restore a backup: check all of its files, then put back the files, the database and the secrets. The server must be
    empty; --force replaces the database of an existing server, and adds the files of the backup to its files. The server must
    be stopped on every machine, except for --dry-run. A backup of another domain or of a newer release is refused; a backup of
    an older release is upgraded by the next start. Redis or Valkey is emptied, because it holds nothing that cannot be rebuilt.
    Only rows are read from the dump of the database, never statements. The rows, the secrets and the files are trusted:
    --digest proves that nothing was changed. After an interruption, run the command again; until it succeeds, no other command
    starts in this data directory.

    folder: a folder written by manage.py backup
    digest: the digest that manage.py backup printed; a changed backup is refused
    force: replace the existing data, after a question
    ours_only: leave out tables and other things of the dump that this software does not make; a backup with them is refused
    yes: do not ask
    dry_run: check the backup and this server, and change nothing
    """

    requires_system_checks: list[str] = []

    # `manage.py` has already locked the data directory and started the embedded servers when this runs.
    def run(
        self, folder: Annotated[Path, ("metavar", "FOLDER")], *,
        digest: Annotated[str | None, ("metavar", "HEX")] = None, force: bool, ours_only: bool, yes: bool,
        dry_run: bool,
    ) -> None:  # fmt: skip
        folder = folder.absolute()
        target = restoring.look(alone=not dry_run)
        # The quick checks come first, since reading the whole backup takes a while.
        if digest is not None:
            archive.check_digest(folder, digest)
        restoring.check(folder, archive.read_manifest(folder), target, replace=force)
        manifest = archive.verify(folder, progress_bar)
        self.stdout.write(
            f"{manifest.domain} of {manifest.created_at}, release {manifest.version}: {manifest.files} files, "
            f"{filesizeformat(manifest.bytes)}, as they were stored."
        )
        schema = restoring.make_tables(folder, manifest, progress_bar, ours_only=ours_only)
        if dry_run:
            return
        if not (target.is_empty or target.interrupted or yes):
            self._ask(manifest.domain)
        again = f"restore {shlex.quote(str(folder))}{' --ours-only' if ours_only else ''}"
        restoring.restore(folder, manifest, target, schema, progress_bar, again=env.manage_command(again))
        self.stdout.write(f"Restored. Start it: {env.manage_command('run')}")

    def _ask(self, domain: str) -> None:
        if not sys.stdin.isatty():
            raise CommandError("Everything in the database would be replaced. Use --yes to continue.")
        if input(f"Everything in the database will be replaced. Type {domain} to go on: ").strip() != domain:
            raise CommandError("Nothing was changed.")
