"""`manage.py hold_account`: postpones the removal of accounts' data, for a court or an authority."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.management.names import find_accounts_named
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import hold_account, release_account
from social.kernel.errors import KernelError


class Command(BaseCommand):
    """Postpone the removal of data; what the accounts show does not change. The reason is written to the audit log."""

    help = "Keep everything of accounts from being removed, also after they are deleted or suspended, until it is released."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="+", metavar="ADDRESS", help="ada, or ada@there.example")
        parser.add_argument("--reason", default="", help="who asks for it and why; needed for a hold")
        parser.add_argument("--release", action="store_true", help="let what was to be removed be removed")
        parser.add_argument("--dry-run", action="store_true", help="only say whom it would be about")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["release"] and not options["reason"].strip():
            raise CommandError(_("Say why with --reason: it stands in the audit log."))
        for account in find_accounts_named(options["addresses"]):
            try:
                if options["dry_run"]:
                    pass
                elif options["release"]:
                    release_account(by=OPERATOR, account=account)
                else:
                    hold_account(by=OPERATOR, account=account, reason=options["reason"].strip())
            except KernelError as error:
                raise CommandError(f"@{account.acct}: {error.message}") from None
            self.stdout.write(f"@{account.acct}")
