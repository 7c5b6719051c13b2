from accounts.management.names import AnyAccounts
from accounts.policies.staff import OPERATOR
from federation.management.selection import Selection
from federation.remote.refreshing import refresh_accounts
from social.management.base import Days, Limit, OperatorCommand


class Command(OperatorCommand):
    """Fetch accounts of other servers again, with names, pictures, keys and inboxes. After an interruption, the accounts
    that were already fetched stay updated.

    accounts: ada@there.example
    domain: all accounts of this server
    all: all accounts of all other servers
    days: only accounts that were not seen for this number of days (%(default)s)
    limit: at most this many, the longest unseen first (%(default)s)
    dry_run: only list the accounts that would be fetched
    """

    def run(
        self, accounts: AnyAccounts = (), *, domain: str = "", all: bool, days: Days = 0, limit: Limit = 1000, dry_run: bool
    ) -> None:  # fmt: skip
        chosen = Selection.of(accounts, domain=domain, all=all, days=days, limit=limit)
        if dry_run:
            for account in chosen.accounts:
                self.stdout.write(f"@{account.acct}")
            if not chosen.accounts:
                self.stdout.write("nobody")
        else:
            outcomes = refresh_accounts(by=OPERATOR, accounts=chosen.accounts, about=chosen.about)
            chosen.report(self, outcomes, brief=False)
