import os

from django.core.management.base import CommandError

from social.management.base import OperatorCommand, would
from social.management.progress import progress_bar
from social.runtime import upgrading
from social.runtime.embedded import owned_servers
from social.runtime.postgres import MAJOR
from social.settings import env


class Command(OperatorCommand):
    """Upgrade the data of the embedded PostgreSQL, after a release of this server that brings a newer PostgreSQL version: the
    old version exports everything, and the new version loads it. Stop the server first. The upgrade takes some minutes for each
    gigabyte and as much additional disk space as the database takes. The old data is kept until --remove-old is given. A server
    of your own (DATABASE_URL) is upgraded with its own tools.

    dry_run: say what would be done
    remove_old: remove the old data of earlier upgrades
    """

    requires_system_checks: list[str] = []

    # `manage.py` has already locked the data directory when this runs, and has started no server.
    def run(self, *, dry_run: bool, remove_old: bool) -> None:
        if os.environ.get("DATABASE_URL"):
            raise CommandError("DATABASE_URL names a server of your own: upgrade that with its own tools.")
        with owned_servers(env.DATA_DIR):
            if remove_old:
                self._remove(dry_run=dry_run)
                return
            former = upgrading.major_of(env.DATA_DIR)
            if former == MAJOR:
                self.stdout.write(f"The data is of PostgreSQL {MAJOR} already.")
            elif dry_run:
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
            self.stdout.write(f"{path} {would(dry_run) or 'is '}removed.")
        if not found:
            self.stdout.write("No old data is kept.")
