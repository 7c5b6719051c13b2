from typing import Annotated

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from accounts.models import Account, Domain
from accounts.policies.staff import OPERATOR
from federation.remote.servers import purge_server
from social.kernel.text.names import normalise_domain
from social.management.base import OperatorCommand


class Command(OperatorCommand):
    """Delete all accounts of a server with everything they have written; this cannot be undone. Accounts are stored
    again when they send activities or are looked up: block the server to prevent that. After an interruption, run the
    command again.

    domain: there.example
    dry_run: only count the accounts
    yes: needed without --dry-run, because this cannot be undone
    """

    def run(self, domain: Annotated[str, ("metavar", "DOMAIN")], *, dry_run: bool, yes: bool) -> None:
        domain = normalise_domain(domain) or ""
        count = Account.objects.filter(domain=domain, deleted_at=None).count()
        if not count and not Domain.objects.filter(name=domain).exists():
            raise CommandError(_("No such server is known."))
        if dry_run:
            self.stdout.write(f"{domain}  {count}")
            return
        self.confirm(_("%(count)d accounts would be deleted.") % {"count": count}, yes=yes)
        purged = 0
        for purged, account in enumerate(purge_server(by=OPERATOR, domain=domain), start=1):
            if not purged % 100:
                self.stdout.write(f"{purged}/{count} @{account.acct}")
        self.stdout.write(f"{domain}  {purged}")
