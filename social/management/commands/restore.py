"""`manage.py restore`: restores a server from a backup."""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from social.management.progress import progress_bar
from social.runtime.backups import archive, restoring
from social.settings import env


class Command(BaseCommand):
    """Command that restores a backup. Before it runs, `manage.py` locks the data directory and starts the embedded servers."""

    help = (
        "Restore a backup: check every file of it, then put back the files, the database and the secrets. Into an empty "
        "server; --force replaces everything in the database of one that is there, and adds its files. The server must be "
        "stopped, on every machine, but for --dry-run. One of another domain, or of a newer release, is refused; one of an "
        "older release is upgraded by the next start. Redis or Valkey is emptied: it holds nothing that cannot be rebuilt. "
        "A backup is trusted with the whole database: --digest proves that it is the one that was taken. "
        "A restore that is interrupted is run again; until it ends, nothing else starts in this data directory."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="what manage.py backup has made")
        parser.add_argument(
            "--digest", metavar="HEX", help="what manage.py backup printed: refuse what was changed since"
        )
        parser.add_argument("--force", action="store_true", help="replace what is there, after a question")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument(
            "--dry-run", action="store_true", help="check the backup and this server, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"].absolute()
        target = restoring.look(alone=not options["dry_run"])
        # The quick checks come first, since reading the whole backup takes a while.
        if options["digest"] is not None:
            archive.check_digest(folder, options["digest"])
        restoring.check(folder, archive.read_manifest(folder), target, replace=options["force"])
        manifest = archive.verify(folder, progress_bar)
        self.stdout.write(
            f"{manifest.domain} of {manifest.created_at}, release {manifest.version}: {manifest.files} files, "
            f"{filesizeformat(manifest.bytes)}, as they were stored."
        )
        if options["dry_run"]:
            return
        if not (target.is_empty or target.interrupted or options["yes"]):
            self._ask(manifest.domain)
        again = f"restore {shlex.quote(str(folder))}"
        restoring.restore(folder, manifest, target, progress_bar, again=env.manage_command(again))
        self.stdout.write(f"Restored. Start it: {env.manage_command('run')}")

    def _ask(self, domain: str) -> None:
        if not sys.stdin.isatty():
            raise CommandError("Everything in the database would be replaced. Say --yes to go on.")
        if input(f"Everything in the database will be replaced. Type {domain} to go on: ").strip() != domain:
            raise CommandError("Nothing was changed.")
