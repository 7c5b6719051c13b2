"""`manage.py merge_accounts`: merges two records of one person on another server into one account."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.management.names import find_account_named
from accounts.policies.staff import OPERATOR
from accounts.transfers.services.merging import load_extent, merge_accounts
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Merge two accounts; after an interruption, the same command continues."""

    help = (
        "Make one account of two records of one person of another server, whose address or id has changed: posts, "
        "follows and blocks of the first become those of the second, and the first is deleted."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="the record that goes: ada@old.example")
        parser.add_argument("target", help="the record that stays: ada@new.example")
        parser.add_argument("--dry-run", action="store_true", help="only say what the first has")

    def handle(self, *args: Any, **options: Any) -> None:
        source, target = (find_account_named(options[name]) for name in ("source", "target"))
        if options["dry_run"]:
            for name, count in load_extent(source):
                self.stdout.write(f"{name}: {count}")
            return
        try:
            for name, count in merge_accounts(by=OPERATOR, source=source, target=target):
                self.stdout.write(f"{name}: {count}")
        except KernelError as error:
            raise CommandError(error.message) from None
        self.stdout.write(
            _("@%(source)s is @%(target)s now; what is left of it is removed by the worker.")
            % {"source": source.acct, "target": target.acct}
        )
