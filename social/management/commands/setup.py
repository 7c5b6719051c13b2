"""`manage.py setup`: prepares the first start, and the first start after an upgrade."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.db import connection, transaction

from social.runtime import database, fingerprints, health, tables
from social.runtime.migrating import migrate
from social.runtime.options import add_options, store_start


class Command(BaseCommand):
    help = "Make the secrets, the database's tables and the static files, and store the domain. Safe to repeat."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(parser)
        parser.add_argument(
            "--new-secrets", action="store_true", help="go on with other secrets than before; names what is lost"
        )
        parser.add_argument(
            "--add-missing",
            action="store_true",
            help="add columns, indexes and constraints that the database lacks although its migrations are recorded as applied",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Set everything up, then store the digest of the schema for quick starts. Raises OperatorError, before anything is
        changed, if the domain or the secrets differ from the stored ones, and at the end if tables differ from the models.
        """
        with connection.cursor() as cursor:
            database.check_domain(cursor, settings.LOCAL_DOMAIN)
            if not options["new_secrets"]:
                fingerprints.check_secrets(cursor, settings.SECRETS, settings.DATA_DIR)
        pending = health.pending_migrations()
        if pending:
            self.stdout.write(f"Applying {len(pending)} migrations.")
        # `migrate` is called even without a migration to apply, because it also creates rows that models need (permissions,
        # content types).
        migrate(interactive=False, verbosity=2 if options["verbosity"] > 1 else 0)
        if options["add_missing"]:
            for added in tables.add_missing():
                self.stdout.write(f"Added: {added}.")
        tables.check_tables()
        # The file is written before the domain is stored in the database, because a command that is waiting for the domain
        # reads the file next.
        store_start(settings.DATA_DIR, settings.LOCAL_DOMAIN)
        with transaction.atomic(), connection.cursor() as cursor:
            database.store_domain(cursor, settings.LOCAL_DOMAIN)
            database.store_web_domain(cursor, settings.WEB_DOMAIN)
            fingerprints.store_fingerprints(cursor, settings.SECRETS)
        with connection.cursor() as cursor:
            database.note_schema(cursor, settings.DATA_DIR, settings.INSTALLED_APPS)
        for folder, mode in (("mail", 0o700), ("media", 0o755), ("static", 0o755)):
            (settings.DATA_DIR / folder).mkdir(mode=mode, parents=True, exist_ok=True)
        call_command("collectstatic", interactive=False, verbosity=0)
        self.stdout.write(f"{settings.LOCAL_DOMAIN} is set up in {settings.DATA_DIR}.")
