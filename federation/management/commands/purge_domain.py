"""`manage.py purge_domain`: removes all data of a server."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.models import Account, Domain
from accounts.policies.staff import OPERATOR
from federation.remote.servers import purge_server
from social.kernel.text.names import normalise_domain

_REPORTED = 100


class Command(BaseCommand):
    """A run that was interrupted continues where it stopped when it is started again."""

    help = (
        "Delete every account of a server with all that it has written. They come back when they are met again: block the "
        "server to keep them away."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("domain", metavar="DOMAIN", help="there.example")
        parser.add_argument("--dry-run", action="store_true", help="only count the accounts")
        parser.add_argument("--yes", action="store_true", help="needed without --dry-run: there is no way back")

    def handle(self, *args: Any, **options: Any) -> None:
        domain = normalise_domain(options["domain"]) or ""
        count = Account.objects.filter(domain=domain, deleted_at=None).count()
        if not count and not Domain.objects.filter(name=domain).exists():
            raise CommandError(_("No such server is known."))
        if options["dry_run"]:
            self.stdout.write(f"{domain}  {count}")
            return
        if not options["yes"]:
            raise CommandError(_("%(count)d accounts would be deleted. Say --yes to go on.") % {"count": count})
        purged = 0
        for purged, account in enumerate(purge_server(by=OPERATOR, domain=domain), start=1):
            if not purged % _REPORTED:
                self.stdout.write(f"{purged}/{count} @{account.acct}")
        self.stdout.write(f"{domain}  {purged}")
