"""`manage.py show_domains`: shows the servers that are known here, and asks those again that were left alone."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from accounts.policies.staff import OPERATOR
from federation.outbound.queueing import retry_host
from federation.remote.servers import load_servers
from social.kernel.text.names import normalise_domain
from social.management.tables import table


class Command(BaseCommand):
    """Accounts, follows from here and to here, posts, deliveries and troubles of each server."""

    help = "Show known servers with their figures: all, some, or those that do not answer; have some asked again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("domains", nargs="*", metavar="DOMAIN", help="only these")
        parser.add_argument("--failing", action="store_true", help="only those that do not answer as they should")
        parser.add_argument("--limit", type=int, default=100, help="at most so many, by name (100)")
        parser.add_argument(
            "--retry", action="store_true", help="ask the named ones again, and send them what was given up"
        )
        parser.add_argument("--json", action="store_true", help="machine-readable")

    def handle(self, *args: Any, **options: Any) -> None:
        names = [normalise_domain(name) or name for name in options["domains"]]
        if options["limit"] < 1:
            raise CommandError(_("--limit wants a whole number above 0."))
        if options["retry"]:
            if not names:
                raise CommandError(_("Name the servers that are to be asked again."))
            for name in names:
                self.stdout.write(f"{name}  {retry_host(by=OPERATOR, name=name)}")
            return
        found = load_servers(names or None, limit=options["limit"], failing=options["failing"])
        if options["json"]:
            self.stdout.write(json.dumps(found, indent=1, default=int))
        elif found:
            table(self.stdout, found)
        else:
            self.stdout.write(_("No such server is known."))
