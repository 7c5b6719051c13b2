from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.management.names import AnyAccounts, for_each
from accounts.models import Account
from accounts.policies.staff import OPERATOR
from accounts.services.sanctions import hold_account, release_account
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Keep all data of accounts, even after they are deleted or suspended, until the hold is released.

    reason: who asks for it and why; needed for a hold, and written to the audit log
    release: end the hold; the data that was waiting for removal is then removed
    """

    def run(self, accounts: AnyAccounts, *, reason: str = "", release: bool, dry_run: bool) -> None:
        if not release and not reason.strip():
            raise CommandError(_("Give the reason with --reason: it is written to the audit log."))

        def act(account: Account) -> None:
            if release:
                release_account(by=OPERATOR, account=account)
            else:
                hold_account(by=OPERATOR, account=account, reason=reason.strip())

        for_each(self, accounts, len(accounts), act, dry_run=dry_run)
