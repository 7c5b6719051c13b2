"""Selection of remote accounts for a command, and the report about what was found for each account."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.models import Account
from federation.remote.refreshing import Finding, list_known
from social.kernel.text.names import normalise_domain


@dataclass(frozen=True)
class Selection:
    """The selected accounts, and the name of the selection in the audit log."""

    accounts: Sequence[Account]
    about: str

    @classmethod
    def of(cls, named: Sequence[Account], *, domain: str, all: bool, days: int, limit: int) -> "Selection":
        """Select the named accounts, or the `limit` accounts of one server or of all servers whose last fetch was longest ago
        and at least `days` days ago. Raises CommandError unless exactly one of `named`, `domain` and `all` is given.
        """
        if sum(map(bool, (named, domain, all))) != 1:
            raise CommandError(_("Name the accounts, or use --domain or --all."))
        if named:
            for account in named:
                if account.local:
                    raise CommandError(_("@%(name)s is an account of this server.") % {"name": account.username})
            return cls(named, " ".join(f"@{account.acct}" for account in named))
        name = domain_named(domain) if domain else None
        return cls(list(list_known(name, unseen_for=timedelta(days=days))[:limit]), name or "*")

    def report(self, command: BaseCommand, outcomes: Iterable[tuple[Account, Finding]], *, brief: bool) -> None:
        """Print a line for each account, then the counts. With `brief`, print a line only for each deleted account and for
        every hundredth account.
        """
        counts = dict.fromkeys(Finding, 0)
        for number, (account, finding) in enumerate(outcomes, start=1):
            counts[finding] += 1
            if not brief or finding is Finding.GONE or not number % 100:
                command.stdout.write(f"{number}/{len(self.accounts)} @{account.acct} {finding}")
        command.stdout.write(", ".join(f"{finding} {count}" for finding, count in counts.items() if count) or "nobody")


def domain_named(name: str) -> str:
    """Return the normalised domain. Raises CommandError for an invalid domain."""
    domain = normalise_domain(name)
    if domain is None:
        raise CommandError(_("%(domain)s is not a domain.") % {"domain": name})
    return domain
