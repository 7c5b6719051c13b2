from accounts.management.names import AnyAccounts
from accounts.policies.staff import OPERATOR
from federation.management.selection import Selection
from federation.remote.refreshing import ACTIVITY_PERIOD, cull_accounts
from social.management.base import Days, Limit, OperatorCommand


class Command(OperatorCommand):
    """Ask other servers whether their accounts still exist, and delete accounts that are gone. Accounts whose last check was
    longest ago come first, so that the next run continues where this one ended.

    accounts: ada@there.example
    domain: all accounts of this server
    all: all accounts of all other servers
    days: only accounts that were not seen for this number of days (%(default)s)
    limit: at most this many, the longest unseen first (%(default)s)
    dry_run: ask, and delete nobody
    """

    def run(
        self, accounts: AnyAccounts = (), *, domain: str = "", all: bool, days: Days = ACTIVITY_PERIOD.days,
        limit: Limit = 1000, dry_run: bool,
    ) -> None:  # fmt: skip
        chosen = Selection.of(accounts, domain=domain, all=all, days=days, limit=limit)
        outcomes = cull_accounts(by=OPERATOR, accounts=chosen.accounts, about=chosen.about, dry_run=dry_run)
        chosen.report(self, outcomes, brief=True)
