"""Selection of remote accounts for a command: the named accounts, the accounts of a server, or all accounts that were not
refreshed lately.
"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.management.names import find_accounts_named
from accounts.models import Account
from federation.remote.refreshing import list_known
from social.kernel.text.names import normalise_domain

_LIMIT = 1000


@dataclass(frozen=True)
class Selection:
    """The selected accounts, and the name of the selection in the audit log."""

    accounts: Sequence[Account]
    about: str

    @property
    def count(self) -> int:
        return len(self.accounts)

    @staticmethod
    def add_arguments(parser: ArgumentParser, *, days: int) -> None:
        parser.add_argument("addresses", nargs="*", metavar="ADDRESS", help="ada@there.example")
        parser.add_argument("--domain", help="everybody of this server")
        parser.add_argument("--all", action="store_true", help="everybody of all other servers")
        parser.add_argument("--days", type=int, default=days, help=f"who was not seen for so long ({days})")
        parser.add_argument(
            "--limit", type=int, default=_LIMIT, help=f"at most so many, longest unseen first ({_LIMIT})"
        )

    @classmethod
    def of(cls, options: dict[str, Any]) -> Selection:
        """Return the accounts that the options select. Raises CommandError."""
        if sum(map(bool, (options["addresses"], options["domain"], options["all"]))) != 1:
            raise CommandError(_("Name accounts, or say --domain or --all."))
        if options["addresses"]:
            named = find_accounts_named(options["addresses"])
            for account in named:
                if account.local:
                    raise CommandError(_("@%(name)s is an account of this server.") % {"name": account.username})
            return cls(named, " ".join(f"@{account.acct}" for account in named))
        domain = normalise_domain(options["domain"]) if options["domain"] else None
        if options["domain"] and domain is None:
            raise CommandError(_("%(domain)s is no domain.") % {"domain": options["domain"]})
        if options["limit"] < 1 or not 0 <= options["days"] <= 36500:
            raise CommandError(_("--limit wants a whole number above 0, --days one that is not negative."))
        rows = list_known(domain, unseen_for=timedelta(days=options["days"]))
        return cls(list(rows[: options["limit"]]), domain or "*")
