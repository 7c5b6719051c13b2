from collections.abc import Sequence
from shlex import quote

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.management.names import AnyAccounts, for_each
from accounts.models import Account, AccountStat
from accounts.policies.staff import OPERATOR
from accounts.services.erasing import delete_account
from social.management.base import OperatorCommand
from social.settings.env import manage_command


class Command(OperatorCommand):
    """Delete accounts with everything they have written, for good: they are hidden immediately, and the worker removes their
    data. The username of a local account cannot be used again; an account of another server is stored again when that server
    sends one of its activities, or somebody here looks it up.
    """

    def run(self, accounts: AnyAccounts, *, yes: bool, dry_run: bool) -> None:
        if dry_run or not yes:
            for account in accounts:
                self.stdout.write(_described(account))
        if dry_run or not (yes or self._is_confirmed(accounts)):
            return
        for_each(self, accounts, len(accounts), lambda one: delete_account(by=OPERATOR, account=one), dry_run=False)

    def _is_confirmed(self, accounts: Sequence[Account]) -> bool:
        count = len(accounts)
        question = ngettext("Delete it permanently? Type yes:", "Delete all %(count)d permanently? Type yes:", count)
        try:
            answer = input(f"{question % {'count': count}} ")
        except EOFError:
            names = [quote(account.acct) for account in accounts]
            command = manage_command(" ".join(["delete_account", *names, "--yes"]))
            raise CommandError(
                _("Nothing was deleted: nobody confirmed it. To delete without being asked: %(command)s")
                % {"command": command}
            ) from None
        if answer.strip().lower() != "yes":
            self.stdout.write(_("Nothing was deleted."))
            return False
        return True


def _described(account: Account) -> str:
    stat = AccountStat.objects.filter(account=account).first() or AccountStat()
    posts = ngettext("%(count)d post", "%(count)d posts", stat.statuses_count) % {"count": stat.statuses_count}
    followers = ngettext("%(count)d follower", "%(count)d followers", stat.followers_count)
    return f"@{account.acct}: {posts}, {followers % {'count': stat.followers_count}}"
