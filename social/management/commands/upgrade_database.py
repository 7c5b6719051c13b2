"""`manage.py upgrade_database`: upgrades the data of the embedded PostgreSQL from a former major version to this one."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from social.management.progress import progress_bar
from social.runtime import upgrading
from social.runtime.embedded import owned_servers
from social.runtime.postgres import MAJOR
from social.settings import env


class Command(BaseCommand):
    """Command that upgrades the database. Before it runs, `manage.py` locks the data directory, without starting a server."""

    help = (
        f"Bring the data of the embedded PostgreSQL to version {MAJOR}, when a release of this server brings a newer one than "
        "made it: the old version writes everything, the new one loads it. Stop the server first. It takes some minutes for "
        "each gigabyte and, meanwhile, as much room again as the database has. The old data is kept beside the new, until "
        "--remove-old. A server of your own (DATABASE_URL) is upgraded with its own tools."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what would be done")
        parser.add_argument("--remove-old", action="store_true", help="remove the data that former upgrades have kept")

    def handle(self, *args: Any, **options: Any) -> None:
        if os.environ.get("DATABASE_URL"):
            raise CommandError("DATABASE_URL names a server of your own: upgrade that with its own tools.")
        with owned_servers(env.DATA_DIR):
            if options["remove_old"]:
                self._remove(dry_run=options["dry_run"])
                return
            former = upgrading.major_of(env.DATA_DIR)
            if former == MAJOR:
                self.stdout.write(f"The data is of PostgreSQL {MAJOR} already.")
            elif options["dry_run"]:
                self.stdout.write(f"The data of PostgreSQL {former} would be brought to {MAJOR}.")
            else:
                kept = upgrading.upgrade(env.DATA_DIR, progress_bar, again=env.manage_command("upgrade_database"))
                self.stdout.write(
                    f"The data is of PostgreSQL {MAJOR} now. The old one is kept in {kept}; when everything is well: "
                    f"{env.manage_command('upgrade_database --remove-old')}"
                )

    def _remove(self, *, dry_run: bool) -> None:
        found = upgrading.find_former(env.DATA_DIR)
        if found and upgrading.major_of(env.DATA_DIR) != MAJOR:
            raise CommandError("The data in use is of a former version: nothing was removed.")
        for path in found if dry_run else upgrading.remove_former(env.DATA_DIR):
            self.stdout.write(f"{path} {'would be' if dry_run else 'is'} removed.")
        if not found:
            self.stdout.write("No old data is kept.")
