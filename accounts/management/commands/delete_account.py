"""`manage.py delete_account`: deletes accounts for good."""

from __future__ import annotations

from argparse import ArgumentParser
from shlex import quote
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.management.names import find_accounts_named
from accounts.models import Account, AccountStat
from accounts.policies.staff import OPERATOR
from accounts.services.erasing import delete_account
from social.kernel.errors import KernelError
from social.settings.env import manage_command


class Command(BaseCommand):
    """Hide accounts at once; the worker then removes all their data, which cannot be undone."""

    help = (
        "Delete accounts with everything they have written. Those of this server cannot be made again under the same "
        "name; those of other servers come back when they are met again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("addresses", nargs="+", metavar="ADDRESS", help="ada, or ada@there.example")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        accounts = find_accounts_named(options["addresses"])
        if options["dry_run"] or not options["yes"]:
            for account in accounts:
                self.stdout.write(self._described(account))
        if options["dry_run"] or not (options["yes"] or self._agreed(accounts, options["addresses"])):
            return
        for number, account in enumerate(accounts, start=1):
            try:
                delete_account(by=OPERATOR, account=account)
            except KernelError as error:
                raise CommandError(f"@{account.acct}: {error.message}") from None
            self.stdout.write(f"{number}/{len(accounts)} @{account.acct}")

    @staticmethod
    def _described(account: Account) -> str:
        stat = AccountStat.objects.filter(account=account).first() or AccountStat()
        posts = ngettext("%(count)d post", "%(count)d posts", stat.statuses_count) % {"count": stat.statuses_count}
        followers = ngettext("%(count)d follower", "%(count)d followers", stat.followers_count) % {
            "count": stat.followers_count
        }
        return f"@{account.acct}: {posts}, {followers}"

    def _agreed(self, accounts: list[Account], addresses: list[str]) -> bool:
        count = len(accounts)
        question = ngettext("Delete it for good? Type yes:", "Delete all %(count)d for good? Type yes:", count)
        try:
            answer = input(f"{question % {'count': count}} ")
        except EOFError:
            command = manage_command(" ".join(["delete_account", *map(quote, addresses), "--yes"]))
            raise CommandError(
                _("Nothing was deleted: nobody answered. To go on without a question: %(command)s")
                % {"command": command}
            ) from None
        if answer.strip().lower() != "yes":
            self.stdout.write(_("Nothing was deleted."))
            return False
        return True
